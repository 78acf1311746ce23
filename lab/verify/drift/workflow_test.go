//go:build unix

package drift

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// workflow is the part of a workflow file that is looked at.
type workflow struct {
	Name string `yaml:"name"`
	On   struct {
		Schedule []struct {
			Cron string `yaml:"cron"`
		} `yaml:"schedule"`
	} `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency struct {
		Group string `yaml:"group"`
	} `yaml:"concurrency"`
	Jobs map[string]struct {
		RunsOn  string `yaml:"runs-on"`
		Minutes int    `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			Env  map[string]string `yaml:"env"`
			With map[string]any    `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// The workflow asks once a day, may write issues and nothing else, and runs what is
// in the tree.
func TestDailyWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../../.github/workflows/newest.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatalf("newest.yml does not parse: %v", err)
	}
	daily := regexp.MustCompile(`^[0-5]?\d ([01]?\d|2[0-3]) \* \* \*$`)
	if len(w.On.Schedule) != 1 || !daily.MatchString(w.On.Schedule[0].Cron) {
		t.Errorf("it is run at %+v, want once a day", w.On.Schedule)
	}
	if len(w.Permissions) != 2 || w.Permissions["contents"] != "read" || w.Permissions["issues"] != "write" {
		t.Errorf("it may %v, want to read the tree and to write issues", w.Permissions)
	}
	if w.Concurrency.Group == "" {
		t.Error("two runs at once could open two issues, want a concurrency group")
	}
	job := w.Jobs["newest"]
	var runs []string
	for _, step := range job.Steps {
		if step.Uses != "" && !regexp.MustCompile(`^actions/[a-z-]+@v\d+$`).MatchString(step.Uses) {
			t.Errorf("it uses %s, want an action of GitHub's own at a version", step.Uses)
		}
		if step.Run == "./.ci/newest" && step.Env["GH_TOKEN"] == "" {
			t.Error("./.ci/newest gets no GH_TOKEN, want one to write issues with")
		}
		runs = append(runs, step.Run)
	}
	if job.RunsOn == "" || job.Minutes == 0 || !slices.Contains(runs, "make build") ||
		!slices.Contains(runs, "./.ci/newest") {
		t.Errorf("the job is %+v, want one that builds and runs ./.ci/newest within some minutes", job)
	}
}

// One issue is opened, updated when the difference is another, left alone when it
// is the same, and closed when there is none.
func TestOneIssue(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// In place of gh: the issue is a file, and every change of it is written down.
	write("gh", `#!/bin/sh
cd "$PLAYED"
body() { while [ $# -gt 0 ]; do [ "$1" != --body-file ] || cp "$2" issue; shift; done; }
case "$1 $2" in
"issue list") [ ! -e issue ] || echo 7 ;;
"issue view") cat issue ;;
"issue create" | "issue edit") body "$@"; echo "$1 $2" >>calls ;;
"issue close") rm issue; echo "$1 $2" >>calls ;;
*) echo "$1 $2" >>calls ;;
esac
`)
	write("hookmux", "#!/bin/sh\ncat \"$PLAYED/report\"\nexit $(cat \"$PLAYED/code\")\n")
	for i, step := range []struct{ report, code, calls string }{
		{"Goose: as recorded\n", "0", ""},
		{"Goose 1 → 2: differs\n", "1", "label create\nissue create\n"},
		{"Goose 1 → 2: differs\n", "1", ""},
		{"Goose 1 → 3: differs\n", "1", "issue edit\nissue comment\n"},
		{"", "1", "failed"},
		{"usage", "64", "failed"},
		{"Goose: as recorded\n", "0", "issue close\n"},
		{"Goose: as recorded\n", "0", ""},
	} {
		write("report", step.report)
		write("code", step.code)
		write("calls", "")
		cmd := exec.Command("sh", "../../../.ci/newest")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PLAYED="+dir,
			"HOOKMUX="+filepath.Join(dir, "hookmux"))
		out, err := cmd.CombinedOutput()
		if failed := err != nil; failed != (step.calls == "failed") {
			t.Errorf("day %d: %v\n%swant that it fails: %v", i, err, out, step.calls == "failed")
		}
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimPrefix(step.calls, "failed"); string(calls) != want {
			t.Errorf("day %d: gh was called for %q, want %q\n%s", i, calls, want, out)
		}
		if issue, err := os.ReadFile(filepath.Join(dir, "issue")); step.code == "1" && step.report != "" &&
			(err != nil || !strings.Contains(string(issue), "```\n"+step.report+"```")) {
			t.Errorf("day %d: the issue says %s (%v), want the report in it", i, issue, err)
		}
	}
}

// Every workflow file parses, and every script of the tree it runs is there.
func TestWorkflowFilesParse(t *testing.T) {
	files, err := filepath.Glob("../../../.github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatalf("the workflow files are %v (%v), want at least two", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil || w.Name == "" || len(w.Jobs) == 0 {
			t.Errorf("%s: %v, want a name and jobs", file, err)
		}
		for name, job := range w.Jobs {
			for i, step := range job.Steps {
				if script, ok := strings.CutPrefix(step.Run, "./"); ok {
					if info, err := os.Stat("../../../" + script); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s: %s runs %s (%v), want a program of the tree", file,
							fmt.Sprintf("step %d of %s", i+1, name), script, err)
					}
				}
			}
		}
	}
}
