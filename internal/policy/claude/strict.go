package claude

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// StrictReason is how DecideStrict found a rule that Claude Code misses.
type StrictReason string

// The reasons.
const (
	RunsHidden      StrictReason = "runs-hidden"       // eval, find -exec, xargs with options, sh -c, $'…' …
	OtherOptions    StrictReason = "other-options"     // git -C . push, rm -fr for rm -rf
	NamesFile       StrictReason = "names-file"        // a program Claude Code does not know names the file
	MatchesFile     StrictReason = "matches-file"      // a pattern like .e* may name the file
	GoesThrough     StrictReason = "goes-through"      // a folder that holds the file is gone through
	NotReadable     StrictReason = "not-readable"      // it can't be determined what runs
	AskOnFiles      StrictReason = "ask-on-files"      // Read and Edit ask rules on Bash
	SiblingFileTool StrictReason = "sibling-file-tool" // deny Edit and a Write call
)

func (v Verdict) rank() int {
	switch v {
	case Deny:
		return 3
	case Ask:
		return 2
	case None:
		return 1
	}
	return 0
}

// DecideStrict is Decide, but also finds what Claude Code's deny and ask rules miss, by looking at
// what the command really runs. It is never weaker than Decide.
func (s *Set) DecideStrict(call Call, place Place) Decision {
	plain := s.Decide(call, place)
	if plain.Verdict == Deny {
		return plain
	}
	e := &evaluation{call: call, place: place, deny: s.rulesFor(DenyList, place), ask: s.rulesFor(AskList, place)}
	found := e.lookCloser()
	if found.Rule != nil && found.Verdict.rank() > plain.Verdict.rank() {
		return found
	}
	return plain
}

func (e *evaluation) lookCloser() Decision {
	switch e.call.Tool {
	case "Bash":
		return e.lookAtRuns()
	case "Write", "Edit", "NotebookEdit", "MultiEdit":
		for _, tool := range []string{"Edit", "Write"} {
			if rule := wholeToolRule(e.deny, tool); rule != nil {
				return Decision{Deny, rule, SiblingFileTool}
			}
		}
		for _, tool := range []string{"Edit", "Write"} {
			if rule := wholeToolRule(e.ask, tool); rule != nil {
				return Decision{Ask, rule, SiblingFileTool}
			}
		}
	case "Grep":
		if rule := wholeToolRule(e.deny, "Read"); rule != nil {
			return Decision{Deny, rule, SiblingFileTool}
		}
	}
	return Decision{}
}

// closerLook compares rules of one list with what a command really does.
type closerLook struct {
	*evaluation
	rules   []*Rule
	verdict Verdict
	facts   *facts.Facts
}

func (e *evaluation) lookAtRuns() Decision {
	f := e.factsOf(e.call.text("command"))
	for _, list := range []closerLook{{e, e.deny, Deny, f}, {e, e.ask, Ask, f}} {
		if found := list.find(); found.Rule != nil {
			return found
		}
	}
	return Decision{}
}

func (e *evaluation) factsOf(command string) *facts.Facts {
	tool := event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}}
	return facts.Collect(&event.Event{Kind: event.ToolBefore, Cwd: e.place.cwd(), Tool: &tool}, e.place.Project,
		facts.Set(0).With(facts.PathsFact), facts.Options{Home: e.place.Home, Resolve: e.place.Resolve})
}

func (l closerLook) find() Decision {
	var weaker Decision
	note := func(rule *Rule, why StrictReason) {
		if rule != nil && weaker.Rule == nil {
			weaker = Decision{Ask, rule, why}
		}
	}
	for i := range l.facts.Commands {
		command := &l.facts.Commands[i]
		if rule, why := l.commandRule(command); rule != nil {
			return Decision{l.verdict, rule, why}
		}
		if len(command.Argv) > 0 && slices.Contains(command.Dynamic, command.Argv[0]) {
			note(l.firstCommandRule(), NotReadable)
		}
	}
	for i := range l.facts.Paths {
		used := &l.facts.Paths[i]
		if used.Remote {
			continue
		}
		if rule, why := l.fileRule(used); rule != nil {
			if l.verdict == Ask {
				why = AskOnFiles
			}
			return Decision{l.verdict, rule, why}
		}
		note(l.folderRule(used), GoesThrough)
	}
	if slices.Contains(l.facts.Unknown, facts.CommandsFact) {
		note(l.firstCommandRule(), NotReadable)
	}
	return weaker
}

// firstCommandRule returns any rule that might cover a command that can't be read.
func (l closerLook) firstCommandRule() *Rule {
	for _, rule := range l.rules {
		if rule.Tool == "Bash" && rule.HasContent {
			return rule
		}
	}
	return nil
}

func (l closerLook) commandRule(command *facts.Command) (*Rule, StrictReason) {
	if len(command.Argv) == 0 {
		return nil, ""
	}
	part := &shellPart{spaced: strings.Join(strings.Fields(command.Text), " ")}
	for _, word := range command.Argv {
		part.words = append(part.words, shellWord{written: word, plain: word})
	}
	for _, rule := range l.rules {
		if rule.Tool != "Bash" || !rule.HasContent {
			continue
		}
		if partFallsUnder(rule.Content, part) {
			return rule, RunsHidden
		}
		if l.fallsUnderOptions(rule.Content, command) {
			return rule, OtherOptions
		}
	}
	return nil, ""
}

var longOptions = map[string]string{"--recursive": "-r", "--force": "-f", "--all": "-a", "--interactive": "-i",
	"--verbose": "-v", "--quiet": "-q", "--yes": "-y", "--delete": "-d"}

// comparedOptions returns options in one spelling: clusters of letters are left out, because
// their letters are listed too.
func comparedOptions(flags []string) []string {
	var out []string
	for _, flag := range flags {
		switch letter := longOptions[flag]; {
		case letter != "":
			out = append(out, letter)
		case strings.HasPrefix(flag, "--"):
			out = append(out, flag)
		case len(flag) == 2:
			out = append(out, strings.ToLower(flag))
		}
	}
	return out
}

// fallsUnderOptions compares a rule and a command by words and options, in whatever order and
// spelling the options come. Rules that are one exact text are left alone.
func (l closerLook) fallsUnderOptions(content string, command *facts.Command) bool {
	prefix, open := commandPrefix(content)
	if !open {
		if prefix, open = strings.CutSuffix(content, " *"); !open {
			prefix, open = strings.CutSuffix(content, "*")
		}
	}
	if !open || strings.ContainsAny(prefix, "*|&;<>\"'") {
		return false
	}
	if fields := strings.Fields(prefix); len(fields) < 2 || fields[0] != command.Program {
		return false
	}
	ruled := l.factsOf(prefix).Commands
	if len(ruled) == 0 || ruled[0].Program != command.Program {
		return false
	}
	want, got := ruled[0], comparedOptions(command.Flags)
	return (want.Subcommand == "" || want.Subcommand == command.Subcommand) &&
		len(command.Args) >= len(want.Args) && slices.Equal(command.Args[:len(want.Args)], want.Args) &&
		!slices.ContainsFunc(comparedOptions(want.Flags), func(flag string) bool { return !slices.Contains(got, flag) })
}

// ruledTools returns the tools whose rules are about what is done with a path.
func ruledTools(access facts.Access) []string {
	if access == facts.Read || access == facts.Use { // what an unknown program does with it
		return []string{"Read"}
	}
	return []string{"Edit"}
}

// fileRule finds the Read or Edit rule about a file that a command uses, whatever the program.
func (l closerLook) fileRule(used *facts.Path) (*Rule, StrictReason) {
	absolute := l.place.absolute(used.Path)
	for _, tool := range ruledTools(used.Access) {
		if rule := anyPathRule(l.rules, tool, l.place.spellings(absolute), l.place); rule != nil {
			return rule, NamesFile
		}
		if used.All {
			if rule := l.globRule(absolute, tool); rule != nil {
				return rule, MatchesFile
			}
		}
	}
	return nil, ""
}

// literalPath returns where a rule points, if it has no pattern in it.
func (l closerLook) literalPath(rule *Rule, tool string) (root, name string, anywhere, ok bool) {
	if rule.Tool != tool || !rule.HasContent {
		return "", "", false, false
	}
	root, name = rootedPattern(rule, l.place)
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/*"), "/")
	anywhere = !strings.Contains(name, "/")
	name = strings.TrimPrefix(name, "/")
	return root, name, anywhere, name != "" && !strings.ContainsAny(name, `*?[\!`)
}

// globRule finds a rule whose file a shell pattern may match.
func (l closerLook) globRule(pattern, tool string) *Rule {
	parts := strings.Split(strings.Trim(pattern, "/"), "/")
	for _, rule := range l.rules {
		root, name, anywhere, ok := l.literalPath(rule, tool)
		if !ok {
			continue
		}
		if anywhere {
			for _, part := range parts {
				if match, _ := path.Match(part, name); match && strings.ContainsAny(part, "*?[") {
					return rule
				}
			}
			continue
		}
		want := strings.Split(strings.Trim(path.Join(root, name), "/"), "/")
		if len(parts) < len(want) {
			continue
		}
		if match, _ := path.Match(strings.Join(parts[:len(want)], "/"), strings.Join(want, "/")); match {
			return rule
		}
	}
	return nil
}

// folderRule finds a rule about something below a folder that a command goes through.
func (l closerLook) folderRule(used *facts.Path) *Rule {
	if !used.Known || !used.All && used.Access != facts.Delete {
		return nil
	}
	tools := ruledTools(used.Access)
	if used.Access != facts.Read {
		tools = []string{"Edit", "Read"} // what is removed can't be read either
	}
	for _, rule := range l.rules {
		for _, tool := range tools {
			root, literal, anywhere, ok := l.literalPath(rule, tool)
			if ok && paths.IsWithin(used.Path, path.Join(root, literal)) && (used.Path != "/" || !anywhere) {
				return rule
			}
		}
	}
	return nil
}
