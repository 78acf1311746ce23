package clauderules

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// StrictReason says how DecideStrict found a rule that Claude Code misses.
type StrictReason string

// The reasons.
const (
	RunsHidden      StrictReason = "runs-hidden"       // eval, find -exec, xargs with options, sh -c, $'…' …
	OtherOptions    StrictReason = "other-options"     // git -C . push, rm -fr for rm -rf
	NamesFile       StrictReason = "names-file"        // a program Claude Code does not know names the file
	MatchesFile     StrictReason = "matches-file"      // a pattern like .e* may name the file
	GoesThrough     StrictReason = "goes-through"      // a folder that holds the file is gone through
	NotReadable     StrictReason = "not-readable"      // what runs cannot be told
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

// DecideStrict is Decide, and closes what Claude Code's deny and ask rules miss by
// looking at what the command really runs. It is never weaker than Decide.
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

// closerLook holds rules of one list against what really runs.
type closerLook struct {
	*evaluation
	rules   []*Rule
	verdict Verdict
	script  *shell.Script
}

func (e *evaluation) lookAtRuns() Decision {
	script := shell.Parse(e.call.text("command"))
	for _, list := range []closerLook{{e, e.deny, Deny, &script}, {e, e.ask, Ask, &script}} {
		if found := list.find(); found.Rule != nil {
			return found
		}
	}
	return Decision{}
}

func (l closerLook) find() Decision {
	var weaker Decision
	note := func(rule *Rule, why StrictReason) {
		if rule != nil && weaker.Rule == nil {
			weaker = Decision{Ask, rule, why}
		}
	}
	for i := range l.script.Runs {
		run := &l.script.Runs[i]
		if rule, why := l.commandRule(run); rule != nil {
			return Decision{l.verdict, rule, why}
		}
		if len(run.Argv) > 0 && run.Argv[0].Dynamic {
			note(l.firstCommandRule(), NotReadable)
		}
		if run.Remote || run.Contained {
			continue
		}
		if rule, why := l.fileRule(run); rule != nil {
			if l.verdict == Ask {
				why = AskOnFiles
			}
			return Decision{l.verdict, rule, why}
		}
		note(l.folderRule(run), GoesThrough)
	}
	if !l.script.Readable() {
		note(l.firstCommandRule(), NotReadable)
	}
	return weaker
}

// firstCommandRule is any rule that a command nobody can read might fall under.
func (l closerLook) firstCommandRule() *Rule {
	for _, rule := range l.rules {
		if rule.Tool == "Bash" && rule.HasContent {
			return rule
		}
	}
	return nil
}

func runPart(run *shell.Run) *shellPart {
	part := &shellPart{}
	for _, word := range run.Argv {
		part.words = append(part.words, shellWord{written: word.Text, plain: word.Text, dynamic: word.Dynamic})
	}
	part.spaced = strings.Join(strings.Fields(run.String()), " ")
	return part
}

func (l closerLook) commandRule(run *shell.Run) (*Rule, StrictReason) {
	if len(run.Argv) == 0 {
		return nil, ""
	}
	part := runPart(run)
	for _, rule := range l.rules {
		if rule.Tool != "Bash" || !rule.HasContent {
			continue
		}
		if partFallsUnder(rule.Content, part) {
			return rule, RunsHidden
		}
		if fallsUnderOptions(rule.Content, run) {
			return rule, OtherOptions
		}
	}
	return nil, ""
}

var longOptions = map[string]string{"--recursive": "r", "--force": "f", "--all": "a", "--interactive": "i",
	"--verbose": "v", "--quiet": "q", "--yes": "y", "--delete": "d"}

// splitOptions tells the words of a command from its one-letter options.
func splitOptions(name string, args []string) (words []string, letters, long map[string]bool) {
	letters, long = map[string]bool{}, map[string]bool{}
	var takes []string
	if claude := programs.Of(name).Claude; claude != nil {
		takes = claude.Values
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return append(words, args[i+1:]...), letters, long
		case len(words) == 0 && slices.Contains(takes, arg):
			i++
		case strings.HasPrefix(arg, "--"):
			if letter := longOptions[arg]; letter != "" {
				letters[letter] = true
			}
			long[arg] = true
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			for _, letter := range strings.ToLower(arg[1:]) {
				letters[string(letter)] = true
			}
		default:
			words = append(words, arg)
		}
	}
	return words, letters, long
}

// fallsUnderOptions compares a rule and a command by words and options, in whatever
// order and spelling the options come. Rules that are one exact text are left alone.
func fallsUnderOptions(content string, run *shell.Run) bool {
	prefix, open := commandPrefix(content)
	if !open {
		if prefix, open = strings.CutSuffix(content, " *"); !open {
			prefix, open = strings.CutSuffix(content, "*")
		}
	}
	if !open || strings.ContainsAny(prefix, "*|&;<>\"'") {
		return false
	}
	fields := strings.Fields(prefix)
	if len(fields) < 2 || fields[0] != run.Name() {
		return false
	}
	args := make([]string, 0, len(run.Argv))
	for _, word := range run.Args() {
		args = append(args, word.Text)
	}
	wantWords, wantLetters, wantLong := splitOptions(fields[0], fields[1:])
	words, letters, long := splitOptions(fields[0], args)
	if len(words) < len(wantWords) || !slices.Equal(words[:len(wantWords)], wantWords) {
		return false
	}
	for letter := range wantLetters {
		if !letters[letter] {
			return false
		}
	}
	for option := range wantLong {
		if longOptions[option] == "" && !long[option] {
			return false
		}
	}
	return true
}

var changingGit = map[string]bool{"checkout": true, "restore": true, "rm": true, "mv": true, "apply": true,
	"stash": true, "reset": true, "clean": true}

// fileRule finds the Read or Edit rule about a file that a run names, whatever the program.
func (l closerLook) fileRule(run *shell.Run) (*Rule, StrictReason) {
	place := l.place
	for _, dir := range run.Dirs {
		if !dir.Dynamic {
			place.Cwd = place.absolute(dir.Text)
		}
	}
	name := run.Name()
	reads := !programs.Is(name, programs.ClaudeNotReading)
	writes := programs.Is(name, programs.ClaudeChanges)
	if name == "git" && len(run.Argv) > 1 {
		words, _, _ := splitOptions("git", argTexts(run))
		writes = len(words) > 0 && changingGit[words[0]]
	}
	for _, word := range run.Args() {
		for _, named := range namedPaths(word.Text) {
			if rule := l.pathRuleFor(named, reads, writes, place); rule != nil {
				return rule, NamesFile
			}
			if word.Glob && (reads && l.globRule(named, "Read", place) != nil) {
				return l.globRule(named, "Read", place), MatchesFile
			}
			if word.Glob && (writes && l.globRule(named, "Edit", place) != nil) {
				return l.globRule(named, "Edit", place), MatchesFile
			}
		}
	}
	for _, redirect := range run.Redirects {
		if rule := l.pathRuleFor(redirect.Target.Text, redirect.Reads(), redirect.Writes(), place); rule != nil {
			return rule, NamesFile
		}
	}
	return nil, ""
}

func argTexts(run *shell.Run) []string {
	out := make([]string, 0, len(run.Argv))
	for _, word := range run.Args() {
		out = append(out, word.Text)
	}
	return out
}

// namedPaths lists what may be a path in a word: the word, behind "=", "@" and ":".
func namedPaths(word string) []string {
	var out []string
	if word != "" && !strings.HasPrefix(word, "-") {
		out = append(out, word)
	}
	for _, mark := range []string{"=", "@", ":"} {
		if at := strings.LastIndex(word, mark); at >= 0 && at+1 < len(word) {
			out = append(out, strings.TrimPrefix(word[at+1:], "@"))
		}
	}
	return out
}

func (l closerLook) pathRuleFor(name string, reads, writes bool, place Place) *Rule {
	if name == "" || len(name) > 4096 || strings.Contains(name, "\n") {
		return nil
	}
	spellings := place.spellings(place.absolute(strings.TrimPrefix(name, "file://")))
	base := l.place // rules without a slash start from the call's own working folder
	if reads {
		if rule := anyPathRule(l.rules, "Read", spellings, base); rule != nil {
			return rule
		}
	}
	if writes {
		return anyPathRule(l.rules, "Edit", spellings, base)
	}
	return nil
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
func (l closerLook) globRule(pattern, tool string, place Place) *Rule {
	parts := strings.Split(strings.Trim(place.absolute(pattern), "/"), "/")
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

// folderRule finds a rule about something below a folder that a run goes through.
func (l closerLook) folderRule(run *shell.Run) *Rule {
	name := run.Name()
	if !programs.Is(name, programs.ClaudeThrough) {
		return nil
	}
	words, letters, long := splitOptions(name, argTexts(run))
	wide := letters["r"] || long["--recursive"] || name == "rg" || name == "ag" || name == "ack" || name == "tar" ||
		name == "mv" || name == "rsync" || letters["a"] && name == "cp"
	if name == "find" {
		wide = slices.ContainsFunc(argTexts(run), changingFind.MatchString)
	}
	if !wide {
		return nil
	}
	for _, word := range words {
		folder := l.place.absolute(word)
		for _, rule := range l.rules {
			tool := "Read"
			if programs.Is(name, programs.ClaudeChanges) || name == "find" {
				tool = "Edit"
			}
			root, literal, anywhere, ok := l.literalPath(rule, tool)
			if !ok && tool == "Edit" {
				root, literal, anywhere, ok = l.literalPath(rule, "Read")
			}
			if !ok {
				continue
			}
			if target := path.Join(root, literal); paths.IsWithin(folder, target) && (folder != "/" || !anywhere) {
				return rule
			}
		}
	}
	return nil
}
