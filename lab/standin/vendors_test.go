//go:build unix

package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
)

// vendors are the agents with a stand-in. To add one: a file NAME_test.go with a vendor (claudeshaped_test.go has the
// rules of those that took over Claude Code's form), and a row here.
var vendors = []*vendor{
	&antigravity,
	&codebuddy,
	&crush,
	&hermes,
	&iflow,
	&kiro,
	&kiro2,
	&openhands,
	&qoder,
	&rovodev,
	&trae,
	&devin,
	&vscode,
	&windsurf,
}

// TestStandIns takes every vendor through the same way, beside one daemon: installed into a file that holds the user's
// own things, asked with the daemon, without it and without the program, and taken out again.
func TestStandIns(t *testing.T) {
	b := newBench(t)
	worlds := make([]*world, 0, len(vendors))
	for _, v := range vendors {
		a, ok := agent.Builtin().Agent(v.agent)
		if !ok || a.Install == nil {
			t.Fatalf("%s: is not in the catalogue, or cannot be installed", v.agent)
		}
		worlds = append(worlds, &world{Bench: b, agent: a, v: v})
	}
	each := func(step string, do func(t *testing.T, w *world)) {
		t.Helper()
		for _, w := range worlds {
			t.Run(w.v.agent+" "+step, func(t *testing.T) { do(t, w) })
		}
	}
	each("rejects", wantRejected)
	each("install", func(t *testing.T, w *world) {
		w.Write(w.file(w.v.user), w.v.was[0])
		theirs := w.load(t, w.v.user)
		w.install(t, install.User)
		wantEntries(t, w, w.v.user, theirs)
	})
	each("notices", wantNoticed)
	each("up", wantAnswers)
	each("more", func(t *testing.T, w *world) {
		if w.v.more != nil {
			w.v.more(t, w)
		}
	})
	daemonDown(t, b)
	each("daemon down", func(t *testing.T, w *world) {
		wantOutcome(t, w, "echo unchecked", w.v.honours.unchecked, "")
	})
	if err := os.Remove(b.Program("hookmux-hook")); err != nil {
		t.Fatal(err)
	}
	each("program missing", func(t *testing.T, w *world) {
		wantOutcome(t, w, "echo missing", w.v.honours.missing, "")
	})
	each("uninstall", wantBytesBack)
}

// wantRejected wants the stand-in to reject what is wrong: one that takes everything
// proves nothing.
func wantRejected(t *testing.T, w *world) {
	if len(w.v.rejects) == 0 {
		t.Error("the stand-in names no text that the vendor rejects")
	}
	for _, text := range w.v.rejects {
		if got, err := w.v.load(w, w.file(w.v.user), []byte(text)); err == nil && len(got) > 0 {
			t.Errorf("the stand-in loads %d hooks, want none, from\n%s", len(got), text)
		}
	}
}

// wantEntries wants the file to load with what was there, and one hook of ours for
// each event that hookmux installs, whose limit in the vendor's unit is what
// hookmux-hook is told.
func wantEntries(t *testing.T, w *world, file string, theirs []entry) {
	t.Helper()
	for _, flaw := range entryFlaws(w, w.load(t, file), theirs) {
		t.Errorf("%s is installed wrong: %s; want nothing wrong", w.v.agent, flaw)
	}
}

// entryFlaws says what is wrong with the hooks that the vendor found.
func entryFlaws(w *world, found, theirs []entry) (flaws []string) {
	say := func(format string, args ...any) { flaws = append(flaws, fmt.Sprintf(format, args...)) }
	seen := map[string]int{}
	others := 0
	for _, e := range found {
		if !isOurs(e) {
			others++
			continue
		}
		seen[e.event]++
		spec, ok := w.agent.Event(e.event)
		if !ok || spec.Install != agent.InstallDefault {
			say("%s: is installed, and the catalogue does not say so", e.event)
			continue
		}
		// An agent whose file holds no limit waits as long as it says, and hookmux-hook knows that.
		told, ok := toldLimit(e)
		if !ok || told > 0 && e.limit != told || told == 0 && e.limit != time.Duration(spec.Timeout) {
			say("%s: the vendor waits %v, hookmux-hook is told %v: %q", e.event, e.limit, told, e.argv)
		}
		if e.matches != nil && !e.matches(w.v.call(w, "x").tool) {
			say("%s: the hook is not for every tool", e.event)
		}
	}
	for _, spec := range w.agent.Events {
		if want := map[bool]int{true: 1}[spec.Install == agent.InstallDefault]; seen[spec.Name] != want {
			say("%s: %d hooks of hookmux, want %d", spec.Name, seen[spec.Name], want)
		}
	}
	if others != len(theirs) {
		say("%d hooks of the user, want %d as before", others, len(theirs))
	}
	return flaws
}

// breakages are ways in which an installed file may be wrong. Each must be noticed by a stand-in whose file has what it
// breaks: one that takes them proves nothing about installs.
var breakages = []struct {
	what    string
	pattern *regexp.Regexp
	with    string
}{
	{"another key of the command", regexp.MustCompile(`(\bcommand"?:)( *"?(?:test|exec|'|/))`), "cmd-line$1$2"},
	{"no command",
		regexp.MustCompile(`(\bcommand"?: *)("(?:[^"\\]|\\.)*hookmux-hook(?:[^"\\]|\\.)*"|[^"\n]*hookmux-hook.*)`),
		`${1}""`},
	{"the limit in another unit", regexp.MustCompile(`(\btimeout(?:_ms|Sec)?"?: *)(\d+)`), "${1}7"},
	{"a limit that is text", regexp.MustCompile(`(\btimeout(?:_ms|Sec)?"?: *)(\d+)`), `${1}"$2"`},
	{"an event that is not known",
		regexp.MustCompile(`(?i)\b(pre_?tool_?(?:use|call)|on_tool_start|pre_run_command)\b`), "Nobodys$1"},
	{"half of the file", regexp.MustCompile(`(?s)^(.*hookmux-hook).*$`), "$1"},
	{"the type of a handler", regexp.MustCompile(`("type": *)"command"`), `$1"http"`},
	{"the version", regexp.MustCompile(`("version": *)("?v?)1`), "${1}${2}9"},
}

// wantNoticed breaks the installed file in every way, and holds that the stand-in sees each.
func wantNoticed(t *testing.T, w *world) {
	file := w.file(w.v.user)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := w.v.load(w, file, []byte(w.v.was[0]))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, b := range breakages {
		broken := b.pattern.ReplaceAllString(string(text), b.with)
		if broken == string(text) || slices.Contains(w.v.takes, b.what) {
			continue // the file has nothing of that, or the vendor does not read it
		}
		tried++
		found, err := w.v.load(w, file, []byte(broken))
		if err == nil && len(entryFlaws(w, found, theirs)) == 0 {
			t.Errorf("with %s the stand-in finds nothing wrong:\n%s", b.what, broken)
		}
	}
	if tried < 3 {
		t.Errorf("%d of the breakages fit its file, want three at least:\n%s", tried, text)
	}
}

// ourWords are the words behind hookmux-hook in an installed command: agent, event and limit.
var ourWords = regexp.MustCompile(`hookmux-hook'?(?: --[a-z=-]+)* (\S+) (\S+?)(?: (\d+))?$`)

// toldLimit returns the limit that hookmux-hook is told by its command; 0: none.
func toldLimit(e entry) (limit time.Duration, ok bool) {
	words := ourWords.FindStringSubmatch(strings.TrimSpace(strings.Join(e.argv, " ")))
	if words == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(words[3]) // digits, or nothing
	return time.Duration(n) * time.Second, words[2] == e.event
}

// wantAnswers wants the vendor, with the daemon up, to go on where hookmux has no
// opinion, and to heed refusals as it says.
func wantAnswers(t *testing.T, w *world) {
	h := w.v.honours
	wantOutcome(t, w, "echo hello", h.neutral, "")
	wantOutcome(t, w, "make deploy", h.deny, "no deploys today")
	wantOutcome(t, w, "echo '{}' > "+filepath.Join(w.Dirs.Config, "hooks.json"), h.deny, "hookmux")
}

// wantOutcome asks about one command and holds the outcome and, where it is refused, the words against what is
// expected. Nothing said about a case means that the vendor goes on.
func wantOutcome(t *testing.T, w *world, command string, want outcome, why string) {
	t.Helper()
	if want == "" {
		want = goesOn
	}
	got := w.ask(t, w.v.call(w, command))
	if got.outcome != want || want == refused && !strings.Contains(got.why, why) {
		t.Errorf("%s: %s (%q), want %s with %q", command, got.outcome, got.why, want, why)
	}
}

// wantBytesBack takes hookmux out, and puts it in and out again over every text that people have, in both scopes.
func wantBytesBack(t *testing.T, w *world) {
	w.uninstall(t)
	wantText(t, w.file(w.v.user), w.v.was[0])
	for _, place := range []struct{ scope, file string }{{install.User, w.v.user}, {install.Project, w.v.project}} {
		if place.file == "" {
			continue
		}
		file := w.file(place.file)
		for _, text := range w.v.was {
			w.Write(file, text)
			theirs := w.load(t, place.file)
			w.install(t, place.scope)
			wantEntries(t, w, place.file, theirs)
			w.uninstall(t)
			wantText(t, file, text)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		w.install(t, place.scope)
		wantEntries(t, w, place.file, nil)
		w.uninstall(t)
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: is there after the uninstall, and was not before", place.file)
		}
	}
}

func wantText(t *testing.T, file, want string) {
	t.Helper()
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s: after the uninstall (%v) it is\n%q\nwant\n%q", filepath.Base(file), err, got, want)
	}
}
