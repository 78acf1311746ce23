package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// What npm links as `hookmux` finds the program beside it or below it, and becomes it.
func TestLauncher(t *testing.T) {
	processor := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if processor == "" || runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("there is no package for this system")
	}
	text, err := os.ReadFile("npm/launcher.sh")
	if err != nil {
		t.Fatal(err)
	}
	name := "hookmux-" + runtime.GOOS + "-" + processor + "/bin/hookmux"
	for layout, place := range map[string]string{
		"beside": "lib/node_modules/" + name, "below": "lib/node_modules/hookmux/node_modules/" + name, "nowhere": "",
	} {
		t.Run(layout, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"lib/node_modules/hookmux/launcher.sh": string(text)}
			if place != "" {
				files[place] = "#!/bin/sh\necho \"$$ $*\"\nexit 7\n"
			}
			for file, text := range files {
				at := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(dir, "hookmux")
			if err := os.Symlink("lib/node_modules/hookmux/launcher.sh", link); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(link, "say", "a b")
			cmd.Env = []string{"PATH=/usr/bin:/bin"}
			out, _ := cmd.CombinedOutput() // the exit code tells
			code := cmd.ProcessState.ExitCode()
			if place == "" {
				if code != 1 || !strings.Contains(string(out), "./hookmux-"+runtime.GOOS+"-") {
					t.Errorf("without a program it ended with %d and said %q, want 1 and the command with both packages", code, out)
				}
				return
			}
			pid, args, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
			if code != 7 || args != "say a b" || pid != strconv.Itoa(cmd.Process.Pid) {
				t.Errorf("it ended with %d and said %q, want 7 from the program itself, process %d", code, out,
					cmd.Process.Pid)
			}
		})
	}
}
