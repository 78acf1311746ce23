package claude

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// maxCommand is the length up to which a command is parsed.
const maxCommand = 64 << 10

// shellWord is one word of a command.
type shellWord struct {
	written string // as written in the command
	plain   string // quotes removed, values of this command's variables put in
	dynamic bool   // only the running shell knows the word
	glob    bool   // holds an unquoted pattern character
}

// shellPart is one simple command inside a command line.
type shellPart struct {
	words   []shellWord
	assigns []shellAssign
	outputs []shellWord // files that redirections write
	inputs  []shellWord // files that redirections read
	spaced  string      // the command as written, without redirections
	whole   string      // the command as written, with them
	timed   bool        // after the keyword time
	leading bool        // a redirection comes before the command
	isTest  bool        // [[ … ]]
	valueOf bool        // its output becomes a variable's value
	nested  bool        // its output becomes part of a quoted text
}

type shellAssign struct {
	name, value string
	plain       bool // a value without quotes and expansions
}

// commandLine is a command as Claude Code looks at it.
type commandLine struct {
	text string
	// every holds all simple commands, wherever they are: deny and ask rules look at them.
	every []shellPart
	// parts holds those that Claude Code checks one by one before it allows.
	parts      []shellPart
	unchecked  bool // holds something that Claude Code does not look into
	asksAnyway bool // looked into, and yet the user is asked
	background bool
	subshell   bool
	piped      bool
	joined     bool // more than one command
	withoutOut string
	broken     bool // not shell
}

func parseCommand(text, home string) *commandLine {
	line := &commandLine{text: strings.TrimSpace(text)}
	if len(text) > maxCommand || strings.Contains(text, "\r") {
		line.unchecked, line.broken = true, true
		return line
	}
	file, source := parseTolerant(line.text)
	if file == nil {
		line.unchecked, line.broken = true, true
		line.every = roughParts(line.text)
		line.withoutOut = line.text
		return line
	}
	if strings.HasSuffix(line.text, `\`) || commentBehindOperator.MatchString(line.text) {
		line.unchecked = true // Claude Code's parser does not take these
	}
	r := &commandReader{line: line, source: source, home: home}
	r.values = r.constantValues(file)
	r.collectEvery(file)
	line.withoutOut = strings.TrimSpace(cutSpans(source, 0, len(source), r.redirects))
	r.walkStatements(file.Stmts, false)
	line.joined = len(line.parts) > 1
	return line
}

// parseTolerant parses a command; like Claude Code's parser it tolerates an unclosed quote, a
// trailing pipe and doubled semicolons.
func parseTolerant(text string) (*syntax.File, string) {
	tries := []string{text, strings.ReplaceAll(text, ";;", ";"), text + "'", text + `"`, strings.TrimRight(text, " |")}
	for i, try := range tries {
		if i > 0 && (try == text || strings.HasSuffix(text, `\`)) {
			continue
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(try), "")
		if err == nil {
			return file, try
		}
	}
	return nil, ""
}

var (
	commentBehindOperator = lazyregexp.New(`(&&|\|\|)[ \t]*#`)
	operatorText          = lazyregexp.New(`[;&|\n]+`)
)

// roughParts splits text that is not shell at everything that looks like an operator.
func roughParts(text string) []shellPart {
	var out []shellPart
	for _, piece := range operatorText.Compiled().Split(text, -1) {
		part := shellPart{spaced: strings.TrimSpace(piece), whole: strings.TrimSpace(piece)}
		for _, word := range strings.Fields(piece) {
			if len(part.words) > 0 || !variableWord.MatchString(word) {
				part.words = append(part.words, shellWord{written: word, plain: strings.Trim(word, `"'`)})
			}
		}
		if len(part.words) > 0 {
			out = append(out, part)
		}
	}
	return out
}

type textSpan struct{ from, to int }

// cutSpans returns a piece of the source without some spans of it.
func cutSpans(source string, from, to int, spans []textSpan) string {
	var b strings.Builder
	for _, span := range spans {
		if span.from < from || span.to > to || span.from < 0 {
			continue
		}
		b.WriteString(source[from:span.from])
		from = span.to
	}
	if from < to {
		b.WriteString(source[from:to])
	}
	return b.String()
}

type commandReader struct {
	line      *commandLine
	source    string
	home      string
	values    map[string]string
	redirects []textSpan
}

func (r *commandReader) slice(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from < 0 || to > len(r.source) || from > to {
		return ""
	}
	return r.source[from:to]
}

// constantValues finds variables that this command sets once, outside of pipes and
// subshells, to a text without expansions.
func (r *commandReader) constantValues(file *syntax.File) map[string]string {
	values, times := map[string]string{}, map[string]int{}
	note := func(assign *syntax.Assign) {
		if assign.Name == nil {
			return
		}
		times[assign.Name.Value]++
		if assign.Value == nil || assign.Append || assign.Index != nil || assign.Array != nil {
			return
		}
		if text, ok := literalText(assign.Value); ok && text != "" {
			values[assign.Name.Value] = text
		}
	}
	var statements func(list []*syntax.Stmt)
	command := func(cmd syntax.Command) {
		switch cmd := cmd.(type) {
		case *syntax.CallExpr:
			for _, assign := range cmd.Assigns {
				if len(cmd.Args) == 0 && len(cmd.Assigns) == 1 {
					note(assign)
				}
			}
		case *syntax.DeclClause:
			for _, assign := range cmd.Args {
				note(assign)
			}
		case *syntax.BinaryCmd:
			if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
				statements([]*syntax.Stmt{cmd.X, cmd.Y})
			}
		case *syntax.IfClause:
			for clause := cmd; clause != nil; clause = clause.Else {
				statements(clause.Cond)
				statements(clause.Then)
			}
		case *syntax.WhileClause:
			statements(cmd.Cond)
			statements(cmd.Do)
		case *syntax.ForClause:
			if iter, ok := cmd.Loop.(*syntax.WordIter); ok {
				times[iter.Name.Value] += 2
			}
			statements(cmd.Do)
		}
	}
	statements = func(list []*syntax.Stmt) {
		for _, stmt := range list {
			command(stmt.Cmd)
		}
	}
	statements(file.Stmts)
	for name, n := range times {
		if n != 1 {
			delete(values, name)
		}
	}
	return values
}

// literalText returns the text of a word without expansions, quotes removed.
func literalText(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescapeLiteral(part.Value, false))
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || part.Dollar {
					return "", false
				}
				b.WriteString(unescapeLiteral(lit.Value, true))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

func unescapeLiteral(text string, quoted bool) string {
	plain, _ := shell.Remove(text, quoted)
	return plain
}

// readWord reads a word. Unknown expansions stay as they are written.
func (r *commandReader) readWord(word *syntax.Word, inSubshell bool) shellWord {
	out := shellWord{written: r.slice(word)}
	var b strings.Builder
	var add func(parts []syntax.WordPart, quoted bool)
	add = func(parts []syntax.WordPart, quoted bool) {
		for _, part := range parts {
			switch part := part.(type) {
			case *syntax.Lit:
				plain, glob := shell.Remove(part.Value, quoted)
				out.glob = out.glob || glob
				b.WriteString(plain)
			case *syntax.SglQuoted:
				if part.Dollar {
					out.dynamic = true
					b.WriteString(r.slice(part))
				} else {
					b.WriteString(part.Value)
				}
			case *syntax.DblQuoted:
				add(part.Parts, true)
			case *syntax.ParamExp:
				value, known := r.values[paramName(part)]
				switch {
				case isPlainParam(part) && part.Param.Value == "HOME" && r.home != "":
					b.WriteString(r.home)
				case isPlainParam(part) && known && !inSubshell && (quoted || !strings.ContainsAny(value, " \t\n*?[")):
					b.WriteString(value)
				default:
					out.dynamic = true
					b.WriteString(r.slice(part))
				}
			default:
				out.dynamic = true
				b.WriteString(r.slice(part))
			}
		}
	}
	add(word.Parts, false)
	out.plain = b.String()
	return out
}

func paramName(param *syntax.ParamExp) string {
	if param.Param == nil {
		return ""
	}
	return param.Param.Value
}

// isPlainParam reports whether an expansion is $x, neither ${x} nor anything more.
func isPlainParam(param *syntax.ParamExp) bool { return param.Short && param.Param != nil }

// collectEvery finds every simple command that Claude Code's deny rules reach.
func (r *commandReader) collectEvery(file *syntax.File) {
	depth := 0
	var stack []syntax.Node
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			if _, ok := stack[len(stack)-1].(*syntax.Subshell); ok {
				depth--
			}
			stack = stack[:len(stack)-1]
			return true
		}
		switch node := node.(type) {
		case *syntax.CoprocClause, *syntax.Comment:
			return false
		case *syntax.TimeClause:
			if node.Stmt != nil {
				if _, block := node.Stmt.Cmd.(*syntax.Block); block {
					return false
				}
			}
		case *syntax.Stmt:
			for _, redirect := range node.Redirs {
				to := int(redirect.End().Offset())
				if redirect.Hdoc != nil {
					to = int(redirect.Word.End().Offset())
				}
				r.redirects = append(r.redirects, textSpan{int(redirect.Pos().Offset()), to})
			}
			r.addEvery(node, depth > 0)
		case *syntax.Subshell:
			depth++
		case *syntax.Redirect:
			if node.Hdoc != nil && strings.Contains(r.slice(node.Hdoc), "`") {
				return false
			}
		}
		stack = append(stack, node)
		return true
	})
}

func (r *commandReader) addEvery(stmt *syntax.Stmt, inSubshell bool) {
	if r.isBehindHeredoc(stmt) {
		return
	}
	if part, ok := r.simplePart(stmt, inSubshell); ok {
		r.line.every = append(r.line.every, part)
	}
}

var heredocStart = lazyregexp.New(`<<-?\s*['"\\]?\w`)

// isBehindHeredoc reports whether a statement comes after "<<X;" on the same line, which
// Claude Code's parser takes for part of the heredoc.
func (r *commandReader) isBehindHeredoc(stmt *syntax.Stmt) bool {
	from := int(stmt.Pos().Offset())
	if from > len(r.source) {
		return false
	}
	start := strings.LastIndexByte(r.source[:from], '\n') + 1
	before := r.source[start:from]
	at := heredocStart.Compiled().FindStringIndex(before)
	return at != nil && !strings.Contains(before[at[0]:], "|") && !strings.Contains(before, "<<<")
}

// simplePart reads a statement that is one simple command.
func (r *commandReader) simplePart(stmt *syntax.Stmt, inSubshell bool) (shellPart, bool) {
	var part shellPart
	from := stmt.Pos()
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		for _, assign := range cmd.Assigns {
			part.assigns = append(part.assigns, r.readAssign(assign))
		}
		for _, word := range cmd.Args {
			part.words = append(part.words, r.readWord(word, inSubshell))
		}
		from = cmd.Pos()
	case *syntax.DeclClause:
		part.words = append(part.words, shellWord{written: cmd.Variant.Value, plain: cmd.Variant.Value})
		for _, assign := range cmd.Args {
			text := r.slice(assign)
			part.words = append(part.words, shellWord{written: text, plain: text})
		}
		from = cmd.Pos()
	case *syntax.LetClause:
		part.words = []shellWord{{written: "let", plain: "let"}}
	case *syntax.TestClause:
		part.words = []shellWord{{written: "[[", plain: "[["}}
		part.isTest = true
	case nil:
	default:
		return part, false
	}
	r.readRedirects(&part, stmt)
	end := int(stmt.End().Offset())
	if stmt.Semicolon.IsValid() && int(stmt.Semicolon.Offset()) < end {
		end = int(stmt.Semicolon.Offset())
	}
	begin := int(from.Offset())
	for _, redirect := range stmt.Redirs {
		if int(redirect.Pos().Offset()) < begin {
			part.leading = true
		}
		if redirect.Hdoc != nil && int(redirect.Word.End().Offset()) < end {
			end = int(redirect.Word.End().Offset())
		}
	}
	if begin < 0 || begin > end || end > len(r.source) {
		return part, true
	}
	part.whole = strings.TrimSpace(r.source[begin:end])
	part.spaced = strings.TrimSpace(cutSpans(r.source, begin, end, r.redirects))
	return part, true
}

var plainValue = lazyregexp.New(`^[A-Za-z0-9_./:-]+$`)

func (r *commandReader) readAssign(assign *syntax.Assign) shellAssign {
	out := shellAssign{}
	if assign.Name != nil {
		out.name = assign.Name.Value
	}
	if assign.Value != nil {
		out.value = r.slice(assign.Value)
	}
	out.plain = assign.Index == nil && assign.Array == nil && !assign.Append && plainValue.MatchString(out.value)
	return out
}

// readRedirects notes the files that redirections read and write.
func (r *commandReader) readRedirects(part *shellPart, stmt *syntax.Stmt) {
	for _, redirect := range stmt.Redirs {
		if redirect.Word == nil {
			continue
		}
		word := r.readWord(redirect.Word, false)
		switch redirect.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
			part.outputs = append(part.outputs, word)
		case syntax.DplOut:
			if strings.Trim(word.plain, "0123456789-") != "" {
				part.outputs = append(part.outputs, word)
			}
		case syntax.RdrIn:
			part.inputs = append(part.inputs, word)
		}
	}
}
