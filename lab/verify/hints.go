package verify

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// What you read below ✗: what was seen, which file or switch it is likely about, and the command
// that fixes it or shows more.

// explainFailure adds to ✗ what you need to continue from there.
func (t *task) explainFailure(p *checks.Proof, r checks.Result) checks.Result {
	var e *testbed.Evidence
	for _, name := range t.runNames() {
		if a := p.Of(name); a.Missing == "" && (e == nil || a.Err != nil) {
			e = a
		}
	}
	if e == nil {
		return r
	}
	r.Seen = e.DescribeTraces(t.subject.Event)
	var hints []string
	if r.Hint != "" {
		hints = append(hints, r.Hint)
	}
	r.Hint = strings.Join(append(hints, t.likelyCauses(p, e)...), ". ")
	return r
}

// runNames returns those that a row looked at.
func (t *task) runNames() []string {
	if t.check == nil {
		return nil
	}
	if t.check.Any {
		if run := checks.BringsAbout(t.subject); run != "" {
			return []string{run}
		}
	}
	return t.check.Runs
}

// likelyCauses names the file, the switch, the version, and what to run.
func (t *task) likelyCauses(p *checks.Proof, e *testbed.Evidence) []string {
	a, name := t.subject.Agent, t.subject.Agent.Name
	again := fmt.Sprintf(
		"`hookmux verify %s --check %s --keep` keeps all that was seen, for a report",
		name,
		t.row.ID(),
	)
	var out []string
	switch {
	case e.Err != nil && len(e.Seen) > 0:
		out = append(out, "The agent did not come to what was asked; its output above says why")
	case len(e.Seen) == 0 && e.Run != "broken" && e.Run != "absent":
		out = append(out, "No hook ran at all: "+orList(offSwitches(a, p.Mine)))
		if p.Mine {
			out = append(out, fixInstall(name))
		}
	case t.subject.Event != nil && len(e.Events(t.subject.Event.Name)) == 0:
		if !p.Mine {
			out = append(out, "Other hooks ran and this one did not: this version may no longer send it")
			break
		}
		out = append(
			out,
			fmt.Sprintf("Other hooks ran and this one did not: it may be missing in %s, or this version no "+
				"longer sends it", placeOf(a)),
			fixInstall(name),
		)
	}
	if v := p.Version; v != "" && a.Tried != "" && v != a.Tried {
		out = append(
			out,
			fmt.Sprintf("The catalogue was tried with %s %s and this is %s: going back to that version brings "+
				"the claim "+"back, if it was the agent that changed", name, a.Tried, v),
		)
	}
	return append(out, again)
}

func fixInstall(name string) string {
	return fmt.Sprintf(
		"`hookmux doctor %s` looks for the cause, `hookmux install %s` writes the hooks anew",
		name,
		name,
	)
}

// offSwitches returns what keeps all hooks of an agent from running. In a home of our
// own that can only be the version or a file of the machine.
func offSwitches(a *agent.Agent, mine bool) []string {
	var out []string
	if !mine {
		out = append(out, "this version may not support hooks, or may have stopped early")
	}
	if a.Install == nil {
		return append(out, "look at "+placeOf(a))
	}
	for _, o := range a.Install.Off {
		if !mine && !strings.HasPrefix(o.Path, "/") {
			continue
		}
		out = append(out, fmt.Sprintf("%s may be %v in %s", o.Key, o.When, o.Path))
	}
	if !mine {
		return out
	}
	if a.Install.Trust.Say != "" {
		out = append(out, "trust may be missing ("+a.Install.Trust.Say+")")
	}
	return append(out, "the hooks may be missing in "+placeOf(a))
}

// placeOf returns where hookmux writes an agent's hooks.
func placeOf(a *agent.Agent) string {
	if a.Install != nil && len(a.Install.Places) > 0 {
		return a.Install.Places[0].Path
	}
	if len(a.Files) > 0 {
		return a.Files[0].Path
	}
	return "its config"
}

func orList(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + ", or " + list[len(list)-1]
}
