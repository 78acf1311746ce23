package claude

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// walkStatements goes through what Claude Code checks part by part before it allows.
func (r *commandReader) walkStatements(list []*syntax.Stmt, nested bool) {
	for _, stmt := range list {
		r.walkStatement(stmt, nested)
	}
}

func (r *commandReader) walkStatement(stmt *syntax.Stmt, nested bool) {
	if stmt.Background {
		r.line.background = true
	}
	if stmt.Coprocess || stmt.Disown {
		r.line.unchecked = true
	}
	if r.isBehindHeredoc(stmt) {
		r.line.unchecked = true
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.TestClause, nil:
		r.walkSimple(stmt, false)
		return
	case *syntax.TimeClause:
		r.walkTimed(cmd)
	case *syntax.BinaryCmd:
		r.walkBinary(cmd, nested)
	case *syntax.Subshell:
		r.line.subshell = true
		if len(cmd.Stmts) > 1 {
			r.line.unchecked = true
		}
		r.walkStatements(cmd.Stmts, true)
	case *syntax.IfClause:
		for clause := cmd; clause != nil; clause = clause.Else {
			r.walkStatements(clause.Cond, true)
			r.walkStatements(clause.Then, true)
		}
	case *syntax.WhileClause:
		r.walkStatements(cmd.Cond, true)
		r.walkStatements(cmd.Do, true)
	case *syntax.ForClause:
		r.walkFor(cmd)
	default:
		r.line.unchecked = true
	}
	if len(stmt.Redirs) > 0 {
		r.line.unchecked = true // a redirection of a block
	}
}

func (r *commandReader) walkTimed(cmd *syntax.TimeClause) {
	if cmd.PosixFormat || cmd.Stmt == nil {
		r.line.unchecked = true
		return
	}
	if _, simple := cmd.Stmt.Cmd.(*syntax.CallExpr); simple {
		r.walkSimple(cmd.Stmt, true)
		return
	}
	if pipe, ok := cmd.Stmt.Cmd.(*syntax.BinaryCmd); ok {
		r.walkBinary(pipe, false)
		return
	}
	r.line.unchecked = true
}

func (r *commandReader) walkFor(cmd *syntax.ForClause) {
	iter, ok := cmd.Loop.(*syntax.WordIter)
	if !ok || cmd.Select || !iter.InPos.IsValid() {
		r.line.unchecked = true
		return
	}
	for _, word := range iter.Items {
		r.checkWord(word)
	}
	r.walkStatements(cmd.Do, true)
}

func (r *commandReader) walkBinary(cmd *syntax.BinaryCmd, nested bool) {
	if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
		r.line.piped = true
		if nested {
			r.line.unchecked = true
		}
		for _, side := range []*syntax.Stmt{cmd.X, cmd.Y} {
			switch side.Cmd.(type) {
			case *syntax.CallExpr, *syntax.BinaryCmd, *syntax.TimeClause, *syntax.Subshell, *syntax.TestClause,
				*syntax.DeclClause:
			default:
				r.line.unchecked = true
			}
			for _, redirect := range side.Redirs {
				if redirect.Hdoc != nil {
					r.line.unchecked = true
				}
			}
		}
	}
	r.walkStatement(cmd.X, nested)
	r.walkStatement(cmd.Y, nested)
}

func (r *commandReader) walkSimple(stmt *syntax.Stmt, timed bool) {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		for _, assign := range cmd.Assigns {
			r.checkAssign(assign, len(cmd.Args) == 0)
		}
		if len(cmd.Args) == 0 && len(cmd.Assigns) > 1 {
			r.line.unchecked = true
		}
		for _, word := range cmd.Args {
			r.checkWord(word)
		}
	case *syntax.DeclClause:
		for _, assign := range cmd.Args {
			if assign.Value != nil {
				r.checkValue(assign.Value)
			}
		}
	case *syntax.TestClause:
		syntax.Walk(cmd, func(node syntax.Node) bool {
			if word, ok := node.(*syntax.Word); ok {
				r.checkWord(word)
				return false
			}
			return true
		})
	}
	r.checkRedirects(stmt)
	part, _ := r.simplePart(stmt, false)
	part.timed = timed
	r.line.parts = append(r.line.parts, part)
}

func (r *commandReader) checkRedirects(stmt *syntax.Stmt) {
	for _, redirect := range stmt.Redirs {
		switch redirect.Op {
		case syntax.RdrInOut:
			r.line.unchecked = true
		case syntax.DplOut, syntax.DplIn:
			if redirect.Word != nil && strings.HasSuffix(r.slice(redirect.Word), "-") {
				r.line.unchecked = true
			}
		case syntax.Hdoc, syntax.DashHdoc:
			if !strings.ContainsAny(r.slice(redirect.Word), `'"\`) || len(stmt.Redirs) > 1 || stmt.Background {
				r.line.unchecked = true
			}
			continue
		}
		if redirect.Word == nil {
			continue
		}
		r.checkWord(redirect.Word)
		target := r.slice(redirect.Word)
		if strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
			r.line.asksAnyway = true
		}
	}
}

var (
	constantName = lazyregexp.New(`^[A-Z][A-Z0-9_]*$`)
	lookupName   = lazyregexp.New(`^(PATH|IFS|PS[0-9]|LD_.*|DYLD_.*|ENV|BASH_ENV|PROMPT_COMMAND|CDPATH|FPATH)$`)
)

// checkAssign looks at NAME=value; alone says that no command follows it.
func (r *commandReader) checkAssign(assign *syntax.Assign, alone bool) {
	if assign.Index != nil || assign.Array != nil {
		r.line.unchecked = true
		return
	}
	if assign.Name == nil {
		return
	}
	name, substituted := assign.Name.Value, false
	if assign.Value != nil {
		substituted = r.checkValue(assign.Value)
		if strings.HasPrefix(r.slice(assign.Value), "~") {
			r.line.asksAnyway = true
		}
	}
	if !alone {
		return
	}
	if lookupName.MatchString(name) || assign.Append || !substituted && !constantName.MatchString(name) {
		r.line.asksAnyway = true
	}
}

// checkValue looks at the value of an assignment, and into a $(…) in it.
func (r *commandReader) checkValue(word *syntax.Word) (substituted bool) {
	if len(word.Parts) == 1 {
		switch part := word.Parts[0].(type) {
		case *syntax.CmdSubst:
			if part.Backquotes {
				r.line.asksAnyway = true
			}
			before := len(r.line.parts)
			r.walkStatements(part.Stmts, true)
			for i := before; i < len(r.line.parts); i++ {
				r.line.parts[i].valueOf = true
			}
			return true
		case *syntax.ParamExp:
			if isPlainParam(part) && safeInText[part.Param.Value] {
				return false
			}
		}
	}
	r.checkWord(word)
	return false
}

var safeInText = map[string]bool{"HOME": true, "PWD": true, "OLDPWD": true, "USER": true, "LOGNAME": true,
	"SHELL": true,
	"PATH":  true, "HOSTNAME": true, "UID": true, "EUID": true, "PPID": true, "RANDOM": true, "SECONDS": true,
	"LINENO": true, "TMPDIR": true, "BASH_VERSION": true, "BASHPID": true, "SHLVL": true, "HISTFILE": true,
	"?": true, "$": true, "!": true, "#": true, "0": true, "-": true}

var (
	braceExpansion = lazyregexp.New(`\{[^{}\s]*(,|\.\.)[^{}\s]*\}`)
	escapedBlank   = lazyregexp.New(`\\[ \t]`)
	hiddenComment  = lazyregexp.New(`\n\s*#`)
	onlyNumbers    = lazyregexp.New(`^\$\(\([0-9\s+*/%()<>=!&|^~?:-]*\)\)$`)
)

// checkWord looks for what Claude Code cannot check before it runs.
func (r *commandReader) checkWord(word *syntax.Word) {
	if braceExpansion.MatchString(r.unquotedText(word)) {
		r.line.unchecked = true
	}
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if escapedBlank.MatchString(part.Value) {
				r.line.asksAnyway = true
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				r.line.unchecked = true
			}
			if hiddenComment.MatchString(part.Value) {
				r.line.asksAnyway = true
			}
		case *syntax.DblQuoted:
			r.checkQuoted(part)
		case *syntax.ParamExp:
			r.checkParam(part, false)
		case *syntax.ArithmExp:
			r.checkNumber(part)
		default:
			r.line.unchecked = true
		}
	}
}

func (r *commandReader) unquotedText(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(strings.ReplaceAll(lit.Value, `\`, ""))
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

func (r *commandReader) checkQuoted(quoted *syntax.DblQuoted) {
	if quoted.Dollar {
		r.line.unchecked = true
		return
	}
	for _, part := range quoted.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if hiddenComment.MatchString(part.Value) {
				r.line.asksAnyway = true
			}
		case *syntax.ParamExp:
			alone := len(quoted.Parts) == 1
			r.checkParam(part, !alone)
		case *syntax.CmdSubst:
			if printsHeredoc(part) {
				continue
			}
			if len(quoted.Parts) == 1 {
				r.line.unchecked = true
				continue
			}
			before := len(r.line.parts)
			r.walkStatements(part.Stmts, true)
			for i := before; i < len(r.line.parts); i++ {
				r.line.parts[i].nested = true
			}
		case *syntax.ArithmExp:
			r.checkNumber(part)
		default:
			r.line.unchecked = true
		}
	}
}

// printsHeredoc recognises $(cat <<'EOF' …), with which agents write longer texts.
func printsHeredoc(subst *syntax.CmdSubst) bool {
	if len(subst.Stmts) != 1 || len(subst.Stmts[0].Redirs) != 1 {
		return false
	}
	call, ok := subst.Stmts[0].Cmd.(*syntax.CallExpr)
	redirect := subst.Stmts[0].Redirs[0]
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || redirect.Hdoc == nil {
		return false
	}
	_, plain := redirect.Word.Parts[0].(*syntax.Lit)
	return !plain // the delimiter is quoted
}

// checkParam looks at a variable; besideText says that it is part of a longer text in quotes.
func (r *commandReader) checkParam(param *syntax.ParamExp, besideText bool) {
	name := paramName(param)
	switch {
	case !isPlainParam(param):
		r.line.unchecked = true
	case name == "HOME":
	case besideText && safeInText[name]:
	default:
		if _, known := r.values[name]; known {
			r.line.asksAnyway = true
			return
		}
		r.line.unchecked = true
	}
}

func (r *commandReader) checkNumber(number *syntax.ArithmExp) {
	if number.Bracket || !onlyNumbers.MatchString(r.slice(number)) {
		r.line.unchecked = true
	}
}
