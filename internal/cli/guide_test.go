//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// TestGuide runs every ```console block of the docs, page by page, each page in a home
// and with a daemon of its own. What a command prints must be what the page shows below
// it; "…" stands for any text in a line, and alone for any lines. HOOKMUX_UPDATE=1 writes
// what commands print into the pages.
//
// What readers don't see is in comments:
//
//	<!-- run
//	lines of shell that set up what the page shows
//	-->
//
// A block that names a file (```yaml ~/.config/hookmux/rules/safe.yaml) is saved there.
func TestGuide(t *testing.T) {
	buildHookClient(t)
	found := 0
	for _, page := range pages(t) {
		if !strings.Contains(page.text, "```console") {
			continue
		}
		found++
		t.Run(strings.TrimSuffix(filepath.Base(page.name), ".md"), func(t *testing.T) {
			t.Parallel()
			reader := newGuideReader(t)
			got := reader.runPage(t, page.text)
			if os.Getenv("HOOKMUX_UPDATE") != "" && got != page.text {
				if err := os.WriteFile(page.name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if found < 8 {
		t.Errorf("%d pages have blocks to run, want those of the guide at least", found)
	}
}

// What the lines of a page may use besides the system's programs.
var guidePrograms = map[string]string{
	// says AGENT EVENT MEMBERS: the agent calls its hook, with these members of a JSON object.
	"says": `#!/bin/sh
case $1 in
claude) id=7f3a90c2-5d1e-4c0b-9a51-0c2f6b1de001 ;;
codex) id=0199c4d7-31aa-7c44-8f02-5be1a90de002 ;;
*) id=c41be8f0-$1 ;;
esac
more=${3:+,$3}
echo "{\"session_id\":\"$id\",\"cwd\":\"$PWD\",\"hook_event_name\":\"$2\"$more}" | hookmux-hook "$1" "$2" 60
`,
	// shows PATTERN COMMAND…: waits until the command prints that.
	"shows": `#!/bin/sh
pattern=$1; shift
n=0
until "$@" 2>/dev/null | grep -q -e "$pattern"; do
	n=$((n+1)); [ $n -lt 600 ] || { echo "$* never printed $pattern" >&2; "$@" >&2; exit 1; }
	sleep 0.1
done
`,
	// request NAME: the page calls the request that waits by this name, in place of its id.
	"request": `#!/bin/sh
shows '"status": "pending"' hookmux inbox --json
hookmux inbox --json | sed -n 's/^ *"id": "\(....\)",*$/'"$1"' \1/p' | head -n 1 >>"$HOME/.requests"
`,
	"claude": "#!/bin/sh\necho '2.1.325 (Claude Code)'\n",
	"codex":  "#!/bin/sh\necho 'codex-cli 0.166.0'\n",
}

// guideReader is somebody who follows one page.
type guideReader struct {
	home
	path string
}

func newGuideReader(t *testing.T) *guideReader {
	t.Helper()
	user, err := sandbox.New(sandbox.Options{InHome: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &guideReader{home: home{user}, path: os.Getenv("PATH")}
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Errorf("error %v, want no error", err)
		}
	})
	if err := os.Rename(user.Project, filepath.Join(user.Dirs.Home, "shop")); err != nil {
		t.Fatal(err)
	}
	user.Project = filepath.Join(user.Dirs.Home, "shop")
	for name, text := range guidePrograms {
		user.MustWrite(t, user.Program(name), text)
		if err := os.Chmod(user.Program(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// shell runs lines of shell in the project, and gives what they printed.
func (r *guideReader) shell(t *testing.T, lines string) (printed string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", r.withRequests(lines, false))
	cmd.Dir, cmd.WaitDelay = r.Project, time.Second
	cmd.Env = append(r.env(), "PATH="+r.Bin+":"+r.path, "COLUMNS=100", "TMUX_TMPDIR="+r.Base)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%s: error %v, want no error", lines, err)
	}
	if n := out.Len(); n > 0 && out.Bytes()[n-1] != '\n' {
		out.WriteByte('\n') // the terminal's next prompt would stand behind it
	}
	text := strings.ReplaceAll(r.withRequests(out.String(), true), r.Dirs.Home, "/home/you")
	return strings.ReplaceAll(text, r.Base, "/tmp"), cmd.ProcessState.ExitCode()
}

// withRequests writes the ids of requests for the names by which the page calls them,
// or back.
func (r *guideReader) withRequests(text string, back bool) string {
	known, _ := os.ReadFile(filepath.Join(r.Dirs.Home, ".requests"))
	for line := range strings.Lines(string(known)) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if back {
			name, id = id, name
		}
		text = strings.ReplaceAll(text, name, id)
	}
	return text
}

var (
	guideBlock   = regexp.MustCompile("(?ms)^<!-- run\n(.*?)^-->|^```console( fails)?\n(.*?)^```$|^```\\w+ (~/\\S+)\n(.*?)^```$")
	guideCommand = regexp.MustCompile(`(?m)^\$ ((?:.*\\\n)*.*)\n`)
)

// runPage runs a page's commands in their order, and gives the page with what they
// printed.
func (r *guideReader) runPage(t *testing.T, text string) string {
	t.Helper()
	var page strings.Builder
	last := 0
	for _, at := range guideBlock.FindAllStringSubmatchIndex(text, -1) {
		page.WriteString(text[last:at[0]])
		last = at[1]
		if at[2] >= 0 {
			if printed, code := r.shell(t, "set -e\n"+text[at[2]:at[3]]); code != 0 {
				t.Fatalf("what the page does not show ends with code %d, want 0:\n%s\n%s", code, text[at[2]:at[3]], printed)
			}
			page.WriteString(text[at[0]:at[1]])
			continue
		}
		if at[8] >= 0 {
			r.save(t, text[at[8]:at[9]], text[at[10]:at[11]])
			page.WriteString(text[at[0]:at[1]])
			continue
		}
		page.WriteString(text[at[0]:at[6]])
		page.WriteString(r.runBlock(t, text[at[6]:at[7]], at[4] >= 0))
		page.WriteString(text[at[7]:at[1]])
	}
	return page.String() + text[last:]
}

// save writes a block that names its file.
func (r *guideReader) save(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(r.Dirs.Home, strings.TrimPrefix(name, "~/"))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runBlock runs the commands of one block.
func (r *guideReader) runBlock(t *testing.T, block string, mayFail bool) string {
	t.Helper()
	var made strings.Builder
	commands := guideCommand.FindAllStringSubmatchIndex(block, -1)
	for i, at := range commands {
		end := len(block)
		if i+1 < len(commands) {
			end = commands[i+1][0]
		}
		command, shown := block[at[2]:at[3]], block[at[1]:end]
		printed, code := r.shell(t, command)
		if code != 0 && !mayFail {
			t.Errorf("$ %s\nends with code %d, want 0:\n%s", command, code, printed)
		}
		if strings.TrimSpace(shown) == "…" {
			t.Errorf("$ %s\nshows nothing of what it prints:\n%s", command, printed)
		}
		made.WriteString(block[at[0]:at[1]])
		if !showsOutput(shown, printed) {
			if os.Getenv("HOOKMUX_UPDATE") == "" {
				t.Errorf("$ %s\nprints\n%s\nwant, as the page shows\n%s", command, printed, shown)
			}
			shown = mergeOutput(shown, printed)
		}
		made.WriteString(shown)
	}
	return made.String()
}

// showsOutput reports whether a page shows what was printed.
func showsOutput(shown, printed string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString("(?:.*\n)*")
			continue
		}
		pattern.WriteString(linePattern(line))
	}
	found, err := regexp.MatchString("^"+pattern.String()+"$", evenSpaces(printed))
	return err == nil && found
}

func linePattern(line string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(evenSpaces(line)), "…", ".*")
}

var spaces = regexp.MustCompile(`(?m)[ \t]+`)

// evenSpaces makes columns alike, whose widths follow what stands in them.
func evenSpaces(text string) string {
	text = regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(text, "")
	return spaces.ReplaceAllString(text, " ")
}

// mergeOutput returns what was printed, with the lines of the page that still fit.
func mergeOutput(shown, printed string) string {
	was, is := strings.SplitAfter(shown, "\n"), strings.SplitAfter(printed, "\n")
	if len(was) == len(is) {
		for i := range is {
			if showsOutput(was[i], is[i]) {
				is[i] = was[i]
			}
		}
	}
	return strings.Join(is, "")
}
