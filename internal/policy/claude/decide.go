package claude

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// Verdict is the rules' answer to a call.
type Verdict string

// The verdicts. None: no rule matches, so Claude Code's own behaviour applies.
const (
	None  Verdict = ""
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Call is a tool call in Claude Code's terms.
type Call struct {
	Tool  string
	Input map[string]any
}

func (c Call) text(name string) string {
	text, _ := c.Input[name].(string)
	return text
}

// Decision is a verdict and the rule that decided; Rule is nil exactly for None.
type Decision struct {
	Verdict Verdict
	Rule    *Rule
	// Why says how DecideStrict found the rule if Claude Code misses it.
	Why StrictReason
}

// Decide returns the verdict of the rules on a call, as Claude Code interprets them.
func (s *Set) Decide(call Call, place Place) Decision {
	said := s.evaluate(call, place)
	if said.Rule == nil {
		return Decision{}
	}
	return said
}

// Baseline returns what Claude Code does with a call without any rule, Allow or Ask. Imported
// rules leave the rest to it, and their test looks at that.
func Baseline(call Call, place Place) Verdict { return (&Set{}).evaluate(call, place).Verdict }

type evaluation struct {
	call             Call
	place            Place
	deny, ask, allow []*Rule
}

func decided(verdict Verdict, rule *Rule) Decision { return Decision{Verdict: verdict, Rule: rule} }

// evaluate decides with rules and baseline together. A decision without a rule is the baseline's.
func (s *Set) evaluate(call Call, place Place) Decision {
	e := &evaluation{call: call, place: place, deny: s.rulesFor(DenyList, place), ask: s.rulesFor(AskList, place),
		allow: s.rulesFor(AllowList, place)}
	if rule := wholeToolRule(e.deny, call.Tool); rule != nil {
		return decided(Deny, rule)
	}
	if call.Tool == "Edit" || call.Tool == "Write" || call.Tool == "NotebookEdit" || call.Tool == "MultiEdit" {
		return e.decideWriting()
	}
	switch call.Tool {
	case "Bash":
		return e.decideCommand()
	case "Read":
		return e.decideReading(call.text("file_path"))
	case "Glob", "Grep":
		folder := call.text("path")
		if folder == "" {
			folder = "."
		}
		return e.decideReading(folder)
	case "WebFetch":
		return e.decideFetching()
	case "Agent", "Task", "Skill":
		return e.decideNamed()
	}
	return e.decideWhole(Ask)
}

// wholeToolRule finds a rule about the tool as a whole.
func wholeToolRule(rules []*Rule, tool string) *Rule {
	for _, rule := range rules {
		if rule.isBare() && coversTool(rule, tool) {
			return rule
		}
	}
	return nil
}

func coversTool(rule *Rule, tool string) bool {
	name := rule.Tool
	switch {
	case name == tool:
		return true
	case (name == "Task" || name == "Agent") && (tool == "Task" || tool == "Agent"):
		return true
	case strings.Contains(name, "*"):
		return coversName(name, tool)
	case strings.HasPrefix(name, "mcp__") && !strings.Contains(name[len("mcp__"):], "__"):
		return strings.HasPrefix(tool, name+"__")
	}
	return false
}

// coversName compares a tool's name with one that has stars.
func coversName(pattern, name string) bool {
	return matchesWildcard(strings.ReplaceAll(pattern, `\`, `\\`), name)
}

// decideWhole decides by rules about the whole tool, else as without rules.
func (e *evaluation) decideWhole(otherwise Verdict) Decision {
	if rule := wholeToolRule(e.ask, e.call.Tool); rule != nil {
		return decided(Ask, rule)
	}
	if rule := wholeToolRule(e.allow, e.call.Tool); rule != nil {
		return decided(Allow, rule)
	}
	return decided(otherwise, nil)
}

func (e *evaluation) decideReading(name string) Decision {
	spellings := e.place.spellings(e.place.absolute(name))
	if rule := anyPathRule(e.deny, "Read", spellings, e.place); rule != nil {
		return decided(Deny, rule)
	}
	if rule := wholeToolRule(e.ask, e.call.Tool); rule != nil {
		return decided(Ask, rule)
	}
	if rule := anyPathRule(e.ask, "Read", spellings, e.place); rule != nil {
		return decided(Ask, rule)
	}
	if e.place.allInWorkingFolder(spellings) {
		return decided(Allow, nil)
	}
	for _, tool := range []string{"Edit", "Read"} {
		if rule := allPathRule(e.allow, tool, spellings, e.place); rule != nil {
			return decided(Allow, rule)
		}
	}
	return e.decideWhole(Ask)
}

func (e *evaluation) decideWriting() Decision {
	name := e.call.text("file_path")
	if name == "" {
		name = e.call.text("notebook_path")
	}
	spellings := e.place.spellings(e.place.absolute(name))
	if rule := anyPathRule(e.deny, "Edit", spellings, e.place); rule != nil {
		return decided(Deny, rule)
	}
	if rule := anyPathRule(e.deny, "Read", spellings, e.place); rule != nil {
		return decided(Deny, rule)
	}
	if rule := wholeToolRule(e.deny, "Read"); rule != nil {
		return decided(Deny, rule)
	}
	if rule := wholeToolRule(e.ask, e.call.Tool); rule != nil {
		return decided(Ask, rule)
	}
	if rule := anyPathRule(e.ask, "Edit", spellings, e.place); rule != nil {
		return decided(Ask, rule)
	}
	if anySensitive(spellings) {
		return decided(Ask, nil)
	}
	if rule := allPathRule(e.allow, "Edit", spellings, e.place); rule != nil {
		return decided(Allow, rule)
	}
	if rule := e.starRule(spellings); rule != nil {
		return decided(Allow, rule)
	}
	if len(spellings) > 1 && e.place.isWorking(spellings[0]) && !e.place.isWorking(spellings[1]) {
		return decided(Ask, nil) // a link that leads out of the working folder
	}
	return e.decideWhole(Ask)
}

// starRule finds allow Write(*) and the like, which stays inside the working folder.
func (e *evaluation) starRule(spellings []string) *Rule {
	for _, rule := range e.allow {
		if rule.Tool == e.call.Tool && rule.Content == "*" && rule.HasContent && e.place.allInWorkingFolder(spellings) {
			return rule
		}
	}
	return nil
}

func (e *evaluation) decideFetching() Decision {
	host := hostOf(e.call.text("url"))
	if rule := domainRule(e.deny, host); rule != nil {
		return decided(Deny, rule)
	}
	if rule := wholeToolRule(e.ask, e.call.Tool); rule != nil {
		return decided(Ask, rule)
	}
	if rule := domainRule(e.ask, host); rule != nil {
		return decided(Ask, rule)
	}
	if rule := domainRule(e.allow, host); rule != nil {
		return decided(Allow, rule)
	}
	if openHosts[strings.ToLower(host)] {
		return decided(Allow, nil)
	}
	return e.decideWhole(Ask)
}

// decideNamed decides about agents and skills, which run without a rule.
func (e *evaluation) decideNamed() Decision {
	name := e.call.text("subagent_type")
	if e.call.Tool == "Skill" {
		name = e.call.text("skill")
	}
	covers := func(rule *Rule) bool {
		same := rule.Tool == e.call.Tool || rule.Tool != "Skill" && e.call.Tool != "Skill" &&
			(rule.Tool == "Agent" || rule.Tool == "Task")
		_, prefix := commandPrefix(rule.Content)
		return same && rule.HasContent && (rule.Content == name || prefix && matchesCommand(rule.Content, name))
	}
	if i := slices.IndexFunc(e.deny, covers); i >= 0 {
		return decided(Deny, e.deny[i])
	}
	if rule := wholeToolRule(e.ask, e.call.Tool); rule != nil {
		return decided(Ask, rule)
	}
	if i := slices.IndexFunc(e.allow, covers); i >= 0 {
		return decided(Allow, e.allow[i])
	}
	return e.decideWhole(Allow)
}

func (e *evaluation) decideCommand() Decision {
	line := parseCommand(e.call.text("command"), e.place.Home)
	if rule := restrictingRule(e.deny, line); rule != nil {
		return decided(Deny, rule)
	}
	folders := line.enteredFolders(e.place)
	if !line.unchecked {
		for i := range line.parts {
			if rule := deniedByPath(e.deny, &line.parts[i], e.place, folders); rule != nil {
				return decided(Deny, rule)
			}
		}
	}
	if rule := wholeToolRule(e.ask, "Bash"); rule != nil {
		return decided(Ask, rule)
	}
	if rule := restrictingRule(e.ask, line); rule != nil {
		return decided(Ask, rule)
	}
	if rule := e.deniedInScript(line, 0); rule != nil {
		return decided(Ask, rule)
	}
	if e.isDangerous(line) {
		return decided(Ask, nil)
	}
	checked := e.checkParts(line, folders)
	if rule := wholeToolRule(e.allow, "Bash"); rule != nil {
		if line.background && checked.harmless {
			return decided(Ask, nil) // what follows "&" is not seen when a command needs no rule
		}
		return decided(Allow, rule)
	}
	if rule := e.exactRule(line); rule != nil && !line.background && !line.subshell &&
		(line.unchecked || !checked.asks || checked.runsArguments) {
		return decided(Allow, rule)
	}
	if line.unchecked || line.asksAnyway || line.background || line.subshell || checked.asks || !checked.covered {
		return decided(Ask, nil)
	}
	return decided(Allow, checked.rule)
}

// exactRule finds an allow rule that is exactly the whole command.
func (e *evaluation) exactRule(line *commandLine) *Rule {
	if line.piped && !line.unchecked {
		return nil
	}
	text := tidyOperators(line.text)
	for _, rule := range e.allow {
		if rule.Tool == "Bash" && rule.HasContent && isExact(rule.Content) &&
			(strings.TrimSpace(rule.Content) == line.text || tidyOperators(rule.Content) == text) {
			return rule
		}
	}
	return nil
}

var blanksAtOperator = lazyregexp.New(`[ \t]*(&&|\|\|)[ \t]*`)

func tidyOperators(text string) string {
	return blanksAtOperator.ReplaceAllString(strings.TrimSpace(text), " $1 ")
}

// deniedInScript finds a deny rule about a removal inside the text of bash -c: Claude Code looks
// there for dangerous removals only, and asks if a rule keeps it from that.
func (e *evaluation) deniedInScript(line *commandLine, depth int) *Rule {
	if depth > 4 {
		return nil
	}
	for i := range line.every {
		for _, script := range line.every[i].shellScripts() {
			inner := parseCommand(script, e.place.Home)
			removals := *inner
			removals.every = nil
			for _, part := range inner.every {
				if part.removes() {
					removals.every = append(removals.every, part)
				}
			}
			for _, rule := range e.deny {
				if rule.HasContent && !isExact(rule.Content) && restrictingRule([]*Rule{rule}, &removals) != nil {
					return rule
				}
			}
			if rule := e.deniedInScript(inner, depth+1); rule != nil {
				return rule
			}
		}
	}
	return nil
}

// isDangerous finds what Claude Code asks about under every rule: sensitive files
// and the removal of whole folders.
func (e *evaluation) isDangerous(line *commandLine) bool {
	for i := range line.every {
		words := line.every[i].pathWords()
		if len(words) == 0 || words[0].plain != "rm" && words[0].plain != "rmdir" {
			continue
		}
		for _, access := range line.every[i].accesses() {
			if e.isWholeFolder(access.path) {
				return true
			}
		}
	}
	if line.unchecked {
		return false
	}
	for i := range line.parts {
		part := &line.parts[i]
		for _, access := range part.accesses() {
			if access.writes && (anySensitive(e.place.spellings(e.place.absolute(access.path))) ||
				sensitiveFolders[strings.ToLower(path.Base(access.path))]) {
				return true
			}
		}
		for _, word := range part.outputs {
			if !word.dynamic && anySensitive(e.place.spellings(e.place.absolute(word.plain))) {
				return true
			}
		}
	}
	return false
}

// isWholeFolder reports whether a removal removes the project, the home, what contains them, or
// everything in the working folder.
func (e *evaluation) isWholeFolder(name string) bool {
	if name == "*" || strings.HasSuffix(name, "/*") {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "*"), "/")
		if name == "" {
			name = "."
		}
	}
	absolute := e.place.absolute(name)
	return paths.IsWithin(absolute, e.place.cwd()) || paths.IsWithin(absolute, e.place.Home) || absolute == "/" ||
		strings.Count(absolute, "/") == 1
}

// enteredFolders lists where cd leads inside the command.
func (l *commandLine) enteredFolders(place Place) []string {
	var out []string
	for i := range l.parts {
		words := l.parts[i].words
		if len(words) == 2 && (words[0].plain == "cd" || words[0].plain == "pushd") && !words[1].dynamic {
			entered := place
			if len(out) > 0 {
				entered.Cwd = out[len(out)-1]
			}
			out = append(out, entered.absolute(words[1].plain))
		}
	}
	return out
}

// checkedParts is the result of looking at every part of a command.
type checkedParts struct {
	covered  bool  // every part is allowed by a rule or harmless
	harmless bool  // every part needs no rule
	asks     bool  // something asks in spite of rules
	rule     *Rule // the first rule that was needed
	// runsArguments says that what asks is a built-in like eval, which an exact rule may allow.
	runsArguments bool
}

var upBehindName = lazyregexp.New(`(^|/)[^/]*[^/.][^/]*/\.\.(/|$)`)

func (e *evaluation) checkParts(line *commandLine, folders []string) checkedParts {
	nothing := line.text == "" || strings.HasPrefix(line.text, "#")
	out := checkedParts{covered: len(line.parts) > 0 || nothing, harmless: true}
	if e.changesFolder(line) {
		out.asks = true
	}
	for i := range line.parts {
		part := &line.parts[i]
		rule := allowingRule(e.allow, part)
		harmless := part.isHarmless() && !part.isUncheckedValue()
		if rule == nil && !harmless {
			out.covered = false
		}
		out.harmless = out.harmless && harmless
		if rule != nil && !harmless && out.rule == nil {
			out.rule = rule
		}
		if e.partAsks(part, rule != nil, &out) || len(part.outputs) > 0 && len(folders) > 0 && writesFile(part) {
			out.asks = true
		}
	}
	out.harmless = out.harmless && !out.asks
	return out
}

// isUncheckedValue reports whether a part makes a variable's value in a way that asks.
func (p *shellPart) isUncheckedValue() bool {
	return p.valueOf && (len(p.words) == 0 || !programs.Is(p.words[0].plain, programs.ClaudeReads) && p.words[0].plain != "ls")
}

func writesFile(part *shellPart) bool {
	for _, word := range part.outputs {
		if word.plain != "/dev/null" {
			return true
		}
	}
	return false
}

// changesFolder reports what asks about cd: two of them, or one together with git.
func (e *evaluation) changesFolder(line *commandLine) bool {
	changes, git := 0, false
	for i := range line.parts {
		words := line.parts[i].words
		if len(words) == 0 {
			continue
		}
		switch words[0].plain {
		case "cd", "pushd", "popd":
			if len(words) > 2 && !strings.HasPrefix(words[1].plain, "-") {
				return true
			}
			if len(words) == 2 && !words[1].dynamic && e.place.absolute(words[1].plain) == e.place.cwd() {
				continue // stays where it is
			}
			changes++
		case "git":
			git = true
		}
	}
	return changes > 1 || changes == 1 && git
}

// partAsks looks at the files of a part; byRule says that a Bash rule allows it.
func (e *evaluation) partAsks(part *shellPart, byRule bool, out *checkedParts) bool {
	words := part.pathWords()
	if len(words) > 0 && programs.Is(words[0].plain, programs.ClaudeEvaluates) {
		out.runsArguments = true
		return true
	}
	if asksByOption(words) || part.nested && len(words) > 0 && words[0].plain == "git" {
		return true
	}
	for _, access := range part.accesses() {
		if upBehindName.MatchString(access.path) {
			return true
		}
		if e.accessAsks(access, byRule, out) {
			return true
		}
	}
	for _, word := range part.inputs {
		if word.plain != "/dev/null" && e.accessAsks(pathAccess{path: word.plain, reads: true}, false, out) {
			return true
		}
	}
	for _, word := range part.outputs {
		if word.plain == "/dev/null" {
			continue
		}
		if strings.HasPrefix(word.written, "~") || word.dynamic || word.glob {
			return true
		}
		if e.accessAsks(pathAccess{path: word.plain, writes: true}, false, out) {
			return true
		}
	}
	return false
}

// asksByOption finds options with which find and awk run or change something.
func asksByOption(words []shellWord) bool {
	if len(words) == 0 {
		return false
	}
	for _, word := range words[1:] {
		switch words[0].plain {
		case "find":
			if changingFind.MatchString(word.plain) {
				return true
			}
		case "cp", "mv":
			if strings.HasPrefix(word.plain, "-") {
				return true
			}
		case "awk":
			if word.plain == "-f" || strings.Contains(word.plain, "system(") {
				return true
			}
		}
	}
	return false
}

func (e *evaluation) accessAsks(access pathAccess, byRule bool, out *checkedParts) bool {
	name := access.path
	if access.glob {
		if access.writes {
			return true
		}
		name = globFolder(name)
	}
	spellings := e.place.spellings(e.place.absolute(name))
	if !access.writes {
		if e.place.allInWorkingFolder(spellings) {
			return false
		}
		rule := allPathRule(e.allow, "Read", spellings, e.place)
		if rule != nil && out.rule == nil {
			out.rule = rule
		}
		return rule == nil
	}
	if rule := allPathRule(e.allow, "Edit", spellings, e.place); rule != nil {
		if out.rule == nil {
			out.rule = rule
		}
		return false
	}
	return !byRule || !e.place.allInWorkingFolder(spellings)
}
