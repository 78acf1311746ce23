package drivers

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/internal/shell/quote"
)

// Recorder makes an agent that hookmux does not speak to yet write down what
// it tells its hooks: one file per call in a folder.
type Recorder struct {
	// Events are those to register for; Sure those that a headless turn with
	// one command always brings.
	Events []string
	Sure   []string
	// Install registers a program that takes the event's name as its argument.
	// Payloads go to the folder of the same stage.
	Install func(home, program, folder string, events []string) error
}

// Payload is one recorded call.
type Payload struct {
	Event string
	Body  []byte
}

const recordScript = `#!/bin/sh
# Written by hookmux verify: keeps what the agent says, answers nothing.
file="%s/$(date +%%s%%N)-$$-$1"
cat > "$file.part" && mv "$file.part" "$file.json"
`

// PrepareFolder writes the recording program and registers it.
func (r *Recorder) PrepareFolder(base, home string) (folder string, err error) {
	folder = filepath.Join(base, "payloads")
	program := filepath.Join(base, "record")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(program, fmt.Appendf(nil, recordScript, folder), 0o700); err != nil {
		return "", err
	}
	return folder, r.Install(home, program, folder, r.Events)
}

// ReadPayloads gives what was recorded, oldest first.
func (r *Recorder) ReadPayloads(folder string) ([]Payload, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var out []Payload
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		out = append(out, Payload{Event: name[strings.LastIndex(name, "-")+1:], Body: body})
	}
	return out, nil
}

func recordHandlers(program string, events []string) []Handler {
	var out []Handler
	for _, e := range events {
		out = append(out, Handler{e, quote.Line([]string{program, e}), 20})
	}
	return out
}

// recordedBy makes a way of registering hooks one of registering the recorder.
func recordedBy(hooks func(string, []Handler) error) func(string, string, string, []string) error {
	return func(home, program, _ string, events []string) error {
		return hooks(home, recordHandlers(program, events))
	}
}

func gooseHooks(home string, handlers []Handler) error {
	dir := filepath.Join(home, ".agents/plugins/hookmux-record")
	if err := WriteJSON(filepath.Join(dir, "plugin.json"),
		map[string]any{"name": "hookmux-record", "version": "1.0.0"}); err != nil {
		return err
	}
	return WriteJSON(filepath.Join(dir, "hooks/hooks.json"), map[string]any{"hooks": nested(handlers, 1)})
}

var clineRecorder = &Recorder{
	Events: []string{"TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"},
	Sure:   []string{"TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"},
	Install: func(home, program, _ string, events []string) error {
		dir := filepath.Join(home, ".cline/hooks")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for _, e := range events {
			script := "#!/bin/sh\nexec " + quote.Line([]string{program, e}) + "\n"
			if err := os.WriteFile(filepath.Join(dir, e), []byte(script), 0o700); err != nil {
				return err
			}
		}
		return nil
	},
}

var gooseRecorder = &Recorder{
	Events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"},
	Sure:    []string{"UserPromptSubmit", "PreToolUse", "PostToolUse"},
	Install: recordedBy(gooseHooks),
}
