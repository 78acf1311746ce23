package testbed

import (
	"embed"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/realagents"
)

// Fronts are windows for agents whose terminal can't be used: small programs that host the agent
// over a protocol of its maker, show what it asks and pass on what the user types. The agent behind
// them is the real one.

//go:embed fronts
var fronts embed.FS

// windowCommand returns the agent as a user starts it at a terminal.
func (st *TestBed) windowCommand(in realagents.Installed) ([]string, error) {
	if st.Driver.Front == "" {
		return in.Argv, nil
	}
	source, err := fronts.ReadFile("fronts/" + st.Driver.Front)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(st.Base, st.Driver.Front)
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return nil, err
	}
	node := in.Argv[0]
	if len(in.Argv) == 1 { // a program of its own, which finds its Node on PATH
		if node, err = lookIn("node", st.LookupEnv("PATH")); err != nil {
			return nil, CannotRun("needs a window, and that needs node on PATH")
		}
	}
	return append([]string{node, file}, in.Argv...), nil
}

// lookIn finds a program where the agent would.
func lookIn(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", os.ErrNotExist
}
