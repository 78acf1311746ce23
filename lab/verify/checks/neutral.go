package checks

import (
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// A hook that says nothing changes nothing: the same turn is run with and
// without hooks, and the results are compared.

func evaluateNeutral(p *Proof, s Subject) Result {
	e, c := p.Of("observe"), p.Of("control")
	if len(e.Seen) == 0 {
		return FailsBecause("", "no event arrived")
	}
	if len(c.Seen) > 0 {
		return FailsBecause("The control must have no hooks: something else calls hookmux, for instance a managed "+
			"file of the machine",
			"without hooks %d events arrived all the same", len(c.Seen))
	}
	if unmet := plainWant.Unmet(c); len(unmet) > 0 {
		return UnsureBecause("the turn does not work without hooks either: %s; %s", strings.Join(unmet, "; "),
			c.Summary())
	}
	if unmet := plainWant.Unmet(e); len(unmet) > 0 {
		return FailsBecause("", "%s; without hooks all is well", strings.Join(unmet, "; "))
	}
	if e.Exit != c.Exit {
		return FailsBecause("", "the agent ended with code %d, without hooks with %d", e.Exit, c.Exit)
	}
	if a, b := fileNames(e), fileNames(c); !slices.Equal(a, b) {
		return FailsBecause("", "left in the project: %s; without hooks: %s", strings.Join(a, " "),
			strings.Join(b, " "))
	}
	if extra := toldOnlyIn(e, c, s.Driver.Varies); extra != "" {
		return FailsBecause("A hook printed something: `hookmux why` shows what the answer to an event is",
			"with hooks the model was told %q", testbed.ClipText(extra))
	}
	if lost := toldOnlyIn(c, e, s.Driver.Varies); lost != "" {
		return FailsBecause("", "without hooks the model was told %q, with hooks it was not", testbed.ClipText(lost))
	}
	for _, x := range e.Seen {
		if x.Answer.Stdout != "" || x.Answer.Stderr != "" || x.Answer.Exit != 0 {
			return HoldsBecause("%d events answered, %s with a neutral answer that is not silence; the turn went as "+
				"without hooks", len(e.Seen), x.Event.Native)
		}
	}
	return HoldsBecause("%d events answered with silence; files, exit code and what the model was told are as "+
		"without hooks", len(e.Seen))
}

func fileNames(e *testbed.Evidence) []string {
	var out []string
	for name := range e.Files {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// toldOnlyIn returns something that the model was sent in one run and in no form in the other. What
// differs from run to run is ignored: paths, numbers, ids.
func toldOnlyIn(e, other *testbed.Evidence, varies []string) string {
	known := map[string]bool{}
	for _, text := range modelInputs(other) {
		known[alike(text, other, varies)] = true
	}
	for _, text := range modelInputs(e) {
		if !known[alike(text, e, varies)] {
			return text
		}
	}
	return ""
}

// modelInputs returns what the model was sent: without its own output and standing instructions.
// What an agent sends as the system amid the conversation is taken line by line: some put all of it
// into one message, including what hooks printed, and cut it differently each time.
func modelInputs(e *testbed.Evidence) []string {
	var out []string
	for _, m := range e.Told {
		switch {
		case m.Standing, m.Role == model.RoleAssistant, m.Kind == model.KindToolCall:
		case m.Role == model.RoleSystem:
			out = append(out, strings.Split(m.Text, "\n")...)
		default:
			out = append(out, m.Text)
		}
	}
	return out
}

var (
	uuidPattern   = lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hexPattern    = lazyregexp.New(`\b[0-9a-f]{6,}\b`)
	numberPattern = lazyregexp.New(`[0-9]+([.,:][0-9]+)*`)
	wordPattern   = lazyregexp.New(`\b[A-Za-z0-9_-]*#[A-Za-z0-9_#-]*\b`)
)

func alike(text string, e *testbed.Evidence, varies []string) string {
	if e.Folder != "" {
		text = strings.ReplaceAll(text, e.Folder, "")
		text = strings.ReplaceAll(text, filepath.Base(e.Folder), "")
	}
	for _, pattern := range varies {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, "#")
	}
	text = uuidPattern.ReplaceAllString(text, "#")
	text = hexPattern.ReplaceAllString(text, "#")
	text = numberPattern.ReplaceAllString(text, "#")
	text = wordPattern.ReplaceAllString(text, "#") // ids with numbers in them
	return strings.Join(strings.Fields(text), " ")
}
