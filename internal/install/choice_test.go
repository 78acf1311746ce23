package install

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/plugins"
)

// Who asked for refusals, or for a few events, is not asked again.
func TestWhatWasChosenStays(t *testing.T) {
	for _, name := range []string{"claude", "kimi", "opencode", "codex"} {
		for _, record := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				a := known(t, name)
				h := newHost(t)
				first := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true,
					Events: []string{"tool.before", "turn.end"}, Deny: true})
				path := first.Agents[0].Path
				text := read(t, path)
				if !record { // dotfiles from another machine
					if err := os.Remove(manifestPath(h.Dirs)); err != nil {
						t.Fatal(err)
					}
				}
				again := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true})
				if read(t, path) != text || !slices.Equal(first.Agents[0].Events, again.Agents[0].Events) {
					t.Errorf("installing again changed it:\n%s\n---\n%s", text, read(t, path))
				}
				if notes := strings.Join(again.Agents[0].Notes, "\n"); !strings.Contains(notes, "as chosen before") {
					t.Errorf(`strings.Join(again.Agents[0].UserNotes, "\n") = %q, want "as chosen before" in it`, notes)
				}
				// What is said now counts.
				mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Neutral: true})
				if text := read(t, path); a.Install.Way != agent.WayPlugin &&
					strings.Contains(text, hookentry.DenyFlag) || plugins.ChosenIn([]byte(text), plugins.Options{}).Deny {
					t.Error("it still refuses")
				}
				usual := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Usual: true})
				if want, _ := Pick(a, nil); len(usual.Agents[0].Events) != len(want) {
					t.Errorf("usual.Agents[0].Events = %q, want %v of them", usual.Agents[0].Events, len(want))
				}
				if p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true}); len(p.Steps) > 0 ||
					strings.Contains(strings.Join(p.Agents[0].Notes, ""), "chosen") {
					t.Errorf(`p = %+v, want no p.Steps and no "chosen" in strings.Join(p.Agents[0].UserNotes, "")`, p)
				}
			})
		}
	}
}

// The doctor fixes without losing what was chosen.
func TestTheDoctorKeepsWhatWasChosen(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	path := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"PreToolUse", "Stop"},
		Deny: true}).Agents[0].Path
	text := read(t, path)
	write(t, path, strings.Replace(text, `"timeout": 3600`, `"timeout": 5`, 1))
	d, all := examine(h, a, nil)
	if f := finding(all, "intact"); f == nil || f.Level != Bad ||
		!strings.Contains(f.What, "PreToolUse: timeout differs") || f.Fix != "hookmux install claude" {
		t.Fatalf(`f = %+v, want other than nil, f.Level = Bad, "PreToolUse: timeout differs" in f.What and f.Fix = `+
			`"hookmux install claude"`, f)
	}
	if _, err := d.Fix(all, never, &Disk{}); err != nil {
		t.Fatal(err)
	}
	if read(t, path) != text {
		t.Errorf("read(t, path) = %q, want %q", read(t, path), text)
	}
}

// A version that does not know an event does not get a hook for it: Claude Code would
// open with a warning. The newer version is told what it lacks.
func TestOnlyEventsTheVersionKnows(t *testing.T) {
	a := known(t, "claude")
	version := "2.1.197"
	h := newHost(t)
	h.AgentVersion = func(*agent.Agent) string { return version }
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	text := read(t, p.Agents[0].Path)
	if strings.Contains(text, "PostModelSwitch") || !strings.Contains(text, "PreToolUse") {
		t.Errorf("%s gets %s\nwant PreToolUse in it and no PostModelSwitch", version, text)
	}
	if _, all := examine(h, a, nil); finding(all, "intact") != nil || finding(all, "new events") != nil {
		t.Errorf("%s: all = %+v, want nothing to object to", version, all)
	}
	version = "2.1.325"
	if _, all := examine(h, a, nil); finding(all, "new events") == nil {
		t.Errorf("%s: all = %+v, want PostModelSwitch named as a new event", version, all)
	}
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if text := read(t, p.Agents[0].Path); !strings.Contains(text, "PostModelSwitch") {
		t.Errorf("%s gets %s\nwant PostModelSwitch in it", version, text)
	}
}

// A version that does not know a member does not get it, and it is said.
func TestOnlyMembersTheVersionKnows(t *testing.T) {
	a := known(t, "claude")
	for version, want := range map[string]bool{"2.1.294": false, "2.1.295": true, "2.1.325": true, "": true} {
		h := newHost(t)
		h.AgentVersion = func(*agent.Agent) string { return version }
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Deny: true})
		text := read(t, p.Agents[0].Path)
		if got := strings.Contains(text, "onFailure"); got != want || !strings.Contains(text, hookentry.DenyFlag) {
			t.Errorf(`%s: strings.Contains(text, "onFailure") = %v, text = %s; want %v and hookentry.DenyFlag in text`,
				version, got, text, want)
		}
		if notes := strings.Join(p.Agents[0].Notes, "\n"); strings.Contains(notes, "does not know onFailure") == want {
			t.Errorf(`%s: notes = %s, want strings.Contains(notes, "does not know onFailure") other than %v`,
				version, notes, want)
		}
		if _, all := examine(h, a, nil); finding(all, "intact") != nil {
			t.Errorf(`%s: all = %+v, want finding(all, "intact") = nil`, version, all)
		}
	}
	// One that passes over everything when it does not know one thing.
	kimi := known(t, "kimi")
	for version, want := range map[string]bool{"1.0.0": true, kimi.Tried: false} {
		h := newHost(t)
		h.AgentVersion = func(*agent.Agent) string { return version }
		p := mustInstall(t, h, Options{Agents: []*agent.Agent{kimi}})
		if notes := strings.Join(p.Agents[0].Notes, "\n"); strings.Contains(notes, "is older than") != want {
			t.Errorf(`%s: notes = %s, want strings.Contains(notes, "is older than") = %v`, version, notes, want)
		}
	}
}
