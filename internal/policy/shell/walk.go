package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inherited is passed to a statement from the statements around it.
type inherited struct {
	via               []string
	from              Span
	redirs            []Redirect
	input             Word
	hasInput          bool
	fn, sink          string
	remote, contained bool
	bg, endless       bool
	depth             int
	mounts            []Mount
}

func (c inherited) withVia(via string) inherited {
	if len(c.via) >= maxVia {
		return c
	}
	c.via = append(c.via[:len(c.via):len(c.via)], via)
	return c
}

// startedBy returns what is inherited by a command that another program starts by itself:
// neither its input nor its redirections.
func (c inherited) startedBy(via string) inherited {
	if via != "" {
		c = c.withVia(via)
	}
	c.from, c.input, c.hasInput, c.redirs = Span{}, Word{}, false, nil
	return c
}

// reader represents a program that reads the input c describes.
func (c inherited) reader() *Run {
	return &Run{From: c.from, Input: c.input, HasInput: c.hasInput, Redirects: c.redirs}
}

// walker turns syntax into runs. Variables, functions and the directory are
// followed in the order of the text, which is right for straight scripts and a
// fair guess for branches.
type walker struct {
	out    *Script
	src    string
	vars   variables
	known  outputs
	funcs  map[string]*function
	dirs   []Word
	steps  int
	nested int    // bytes of nested text parsed so far
	worked int    // what operators on values cost so far, see maxEvaluated
	typed  string // what send-keys and its like typed so far
	// aliases are the words that names were given by alias.
	aliases map[string][]Word
	locals  []binding         // the values of variables that are local to the surrounding function
	streams map[string]stream // what exec opened descriptors to
	// inWritten says that a file which this script wrote is being walked.
	inWritten bool
}

// takeStep counts work and reports whether there is budget left.
func (w *walker) takeStep() bool {
	w.steps++
	if w.steps > maxSteps || len(w.out.Runs) >= maxRuns {
		w.out.Truncated = true
		return false
	}
	return true
}

func (w *walker) sourceOf(n syntax.Node) string {
	lo, hi := int(n.Pos().Offset()), int(n.End().Offset())
	if lo < 0 || hi > len(w.src) || lo >= hi {
		return "$(…)"
	}
	if hi-lo > maxValue {
		hi = lo + maxValue
	}
	return w.src[lo:hi]
}

func (w *walker) walkFile(f *syntax.File, src string, c inherited) {
	old := w.src
	w.src = src
	w.walkStmts(f.Stmts, c)
	w.src = old
}

// walkText parses text that a wrapper will pass to a shell.
func (w *walker) walkText(text string, c inherited) {
	if c.depth >= maxDepth || w.nested+len(text) > maxNested {
		w.out.Truncated = true
		return
	}
	w.nested += len(text)
	c.depth++
	f, err := parseText(text)
	if err != nil && w.out.Err == nil {
		w.out.Err = err
	}
	if f != nil {
		w.walkFile(f, text, c)
	}
}

func (w *walker) walkStmts(list []*syntax.Stmt, c inherited) {
	for _, s := range list {
		if !w.takeStep() {
			break
		}
		w.walkStmt(s, c)
	}
}

// walkScoped runs the statements of a subshell: its cd ends with it.
func (w *walker) walkScoped(list []*syntax.Stmt, c inherited) {
	dirs := w.dirs
	w.walkStmts(list, c)
	w.dirs = dirs
}

func (w *walker) walkSubstitution(list []*syntax.Stmt, c inherited) {
	c.from, c.input, c.hasInput, c.redirs = Span{}, Word{}, false, nil
	c.depth++
	if c.depth > 4*maxDepth {
		w.out.Truncated = true
		return
	}
	w.walkScoped(list, c)
}

// walkInside walks the substitutions below a node that is otherwise of no interest.
func (w *walker) walkInside(n syntax.Node, c inherited) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.walkSubstitution(n.Stmts, c)
			return false
		case *syntax.ProcSubst:
			w.walkSubstitution(n.Stmts, c)
			return false
		}
		return true
	})
}

// walkStmt walks one statement and returns the runs whose output is its output.
func (w *walker) walkStmt(s *syntax.Stmt, c inherited) Span {
	if s == nil || !w.takeStep() {
		n := len(w.out.Runs)
		return Span{Lo: n, Hi: n}
	}
	c.bg = c.bg || s.Background || s.Disown || s.Coprocess
	lo := len(w.out.Runs)
	if len(s.Redirs) > 0 {
		// One copy here, so that siblings never share the tail of a slice.
		c.redirs = append(make([]Redirect, 0, len(c.redirs)+len(s.Redirs)), c.redirs...)
	}
	var receivers []receiver // walked after the statement: only then its runs are known
	lasts := len(s.Redirs) > 0 && isBareExec(s)
	for i, r := range s.Redirs {
		if i >= maxRedirs {
			w.out.Truncated = true
			break
		}
		if p := writesTo(r); p != nil {
			source := w.sourceOf(p)
			c.redirs = append(c.redirs, Redirect{Op: r.Op.String(),
				Target: Word{Text: source, Bare: "x", Dynamic: true}})
			if lasts {
				w.keepStream(r, stream{reader: &receiver{p.Stmts, c}})
			}
			receivers = append(receivers, receiver{p.Stmts, c})
			continue
		}
		if len(w.streams) > 0 && r.Op == syntax.DplOut {
			if s, ok := w.streamAt(w.joinWord(r.Word, c).Text); ok && s.reader != nil {
				c.redirs = append(c.redirs, Redirect{Op: r.Op.String(), Target: Word{Text: ">()", Bare: "x", Dynamic: true}})
				receivers = append(receivers, *s.reader)
				continue
			}
		}
		c = w.readRedirect(r, c)
		switch {
		case !lasts:
		case c.hasInput:
			w.keepStream(r, stream{input: c.input, hasInput: true})
		case len(c.redirs) > 0:
			w.keepStream(r, stream{redirect: &c.redirs[len(c.redirs)-1]})
		}
	}
	span := w.walkCommand(s, c, lo)
	for _, r := range slices.Backward(receivers) {
		r.c.input, r.c.hasInput = Word{}, false
		w.walkFed(r.stmts, Span{Lo: lo, Hi: len(w.out.Runs)}, r.c)
	}
	return span
}

// isEndless reports whether the condition of a loop always holds: while true, until false,
// while [ 1 ].
func isEndless(cond []*syntax.Stmt, until bool) bool {
	if len(cond) != 1 || cond[0].Negated {
		return false
	}
	call, ok := cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch baseName(call.Args[0].Lit()) {
	case "true", ":":
		return !until
	case "false":
		return until
	case "[":
		return !until && len(call.Args) == 3 && call.Args[1].Lit() != ""
	}
	return false
}

// onlyStarts reports whether all statements run in the background.
func onlyStarts(list []*syntax.Stmt) bool {
	return !slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return !s.Background })
}

// receiver is the >( … ) of a redirect, which reads what its statement writes.
type receiver struct {
	stmts []*syntax.Stmt
	c     inherited
}

// walkCommand walks the command of a statement whose first run is lo.
func (w *walker) walkCommand(s *syntax.Stmt, c inherited, lo int) Span {
	switch cmd := s.Cmd.(type) {
	case nil:
		if len(s.Redirs) > 0 {
			w.recordRun(Run{}, c)
		}
	case *syntax.CallExpr:
		w.walkCall(cmd, c)
	case *syntax.BinaryCmd:
		return w.walkBinary(cmd, c)
	case *syntax.Block:
		w.walkStmts(cmd.Stmts, c)
	case *syntax.Subshell:
		w.walkScoped(cmd.Stmts, c)
	case *syntax.IfClause:
		for cl := cmd; cl != nil; cl = cl.Else {
			w.walkStmts(cl.Cond, c)
			w.walkStmts(cl.Then, c)
		}
	case *syntax.WhileClause:
		w.walkStmts(cmd.Cond, c)
		c.endless = c.endless || isEndless(cmd.Cond, cmd.Until) && onlyStarts(cmd.Do)
		w.walkStmts(cmd.Do, c)
	case *syntax.ForClause:
		if loop, ok := cmd.Loop.(*syntax.CStyleLoop); ok && loop.Cond == nil && onlyStarts(cmd.Do) {
			c.endless = true
		}
		w.walkLoop(cmd, c)
	case *syntax.CaseClause:
		w.joinWord(cmd.Word, c)
		for _, it := range cmd.Items {
			w.walkStmts(it.Stmts, c)
		}
	case *syntax.FuncDecl:
		w.declareFunction(cmd, c)
	case *syntax.TimeClause:
		w.walkStmt(cmd.Stmt, c.withVia("time"))
	case *syntax.CoprocClause:
		c.bg = true
		w.walkStmt(cmd.Stmt, c)
	case *syntax.DeclClause:
		w.walkDeclaration(cmd, c)
	case *syntax.TestDecl:
		w.walkStmt(cmd.Body, c)
	default: // [[ … ]], (( … )), let
		w.walkInside(cmd, c)
	}
	return Span{Lo: lo, Hi: len(w.out.Runs)}
}

func (w *walker) walkBinary(cmd *syntax.BinaryCmd, c inherited) Span {
	if cmd.Op != syntax.Pipe && cmd.Op != syntax.PipeAll {
		return w.walkList(cmd, c)
	}
	dirs := w.dirs
	inbox := w.walkStmt(cmd.X, c)
	w.dirs = dirs
	c.from, c.input, c.hasInput = inbox, Word{}, false
	out := w.walkStmt(cmd.Y, c)
	w.dirs = dirs
	return out
}

// walkList walks a && b || c from the left. The tree leans to the left, so it is
// unrolled first: otherwise a long list would use up the budget on the way down.
func (w *walker) walkList(cmd *syntax.BinaryCmd, c inherited) Span {
	rest := []*syntax.Stmt{cmd.Y}
	first := cmd.X
	for {
		x, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || x.Op == syntax.Pipe || x.Op == syntax.PipeAll || len(first.Redirs) > 0 {
			break
		}
		rest = append(rest, x.Y)
		first = x.X
	}
	lo := len(w.out.Runs)
	w.walkStmt(first, c)
	for i := len(rest) - 1; i >= 0; i-- {
		w.walkStmt(rest[i], c)
	}
	return Span{Lo: lo, Hi: len(w.out.Runs)}
}

func (w *walker) readRedirect(r *syntax.Redirect, c inherited) inherited {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		c.input, c.hasInput = w.readHeredoc(r, c), true
		return c
	case syntax.WordHdoc:
		c.input, c.hasInput = w.joinWord(r.Word, c), true
		return c
	}
	rd := Redirect{Op: r.Op.String(), Target: w.openStream(w.joinWord(r.Word, c))}
	c.redirs = append(c.redirs, rd)
	if r.Op == syntax.DplIn {
		if s, ok := w.streamAt(rd.Target.Text); ok {
			return s.readStream(c)
		}
	}
	return c
}

// readHeredoc returns the body. A quoted delimiter makes it plain data; the parser then returns
// one literal without escapes.
func (w *walker) readHeredoc(r *syntax.Redirect, c inherited) Word {
	if r.Hdoc == nil {
		return Word{}
	}
	quoted := false
	for _, p := range r.Word.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(l.Value, `\`) {
			quoted = true
		}
	}
	if quoted {
		var b strings.Builder
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				b.WriteString(l.Value)
			}
		}
		return Word{Text: b.String(), Bare: b.String()}
	}
	b := &fieldBuilder{}
	lo := len(w.out.Runs)
	for _, p := range r.Hdoc.Parts {
		w.addPart(b, p, c, true)
	}
	b.open = true
	b.endField()
	word := b.done[0]
	word.From = Span{Lo: lo, Hi: len(w.out.Runs)}
	return word
}

// walkLoop tries literal items one by one, so that the body sees real words.
func (w *walker) walkLoop(f *syntax.ForClause, c inherited) {
	it, ok := f.Loop.(*syntax.WordIter)
	if !ok {
		w.walkInside(f.Loop, c)
		w.walkStmts(f.Do, c)
		return
	}
	var items []Word
	literal := true
	for _, word := range it.Items {
		for _, item := range w.splitFields(word, c) {
			items = append(items, item)
			// Unknown items are not worth remembering, except well-known places.
			literal = literal && (!item.Dynamic || strings.HasPrefix(item.Bare, "$"))
		}
	}
	name := it.Name.Value
	if !literal || len(items) == 0 || len(items) > maxLoop {
		w.vars.forget(name)
		w.walkStmts(f.Do, c)
		return
	}
	for _, item := range items {
		w.vars.setValue(name, item)
		w.walkStmts(f.Do, c)
	}
	w.vars.forget(name)
}

func (w *walker) walkCall(call *syntax.CallExpr, c inherited) {
	var run Run
	for _, a := range call.Assigns {
		as, ok := w.readAssign(a, c)
		if !ok {
			continue
		}
		run.Assigns = append(run.Assigns, as)
		if len(call.Args) == 0 && a.Array == nil {
			w.keepAssign(a, as)
		}
	}
	in := c
	for i, word := range call.Args {
		fs := w.splitFields(word, in)
		if i == 0 && len(fs) > 0 {
			switch n := baseName(fs[0].Text); n {
			case "env", "eval", "export":
				in.sink = n
			}
		}
		for k := range fs {
			fs[k] = w.openStream(fs[k])
		}
		run.Argv = append(run.Argv, fs...)
	}
	if len(run.Argv) == 0 {
		if len(run.Assigns) > 0 || len(c.redirs) > 0 || len(call.Args) > 0 {
			w.recordRun(run, c)
		}
		walkCommandVariables(w, run.Assigns, c)
		return
	}
	if len(run.Assigns) == 0 {
		w.resolveRun(run, c, 0)
		return
	}
	// X=1 sh -c '… $X …': the text of the inner shell sees the variable.
	restore := w.vars.assignFor(run.Assigns)
	w.resolveRun(run, c, 0)
	restore()
	walkCommandVariables(w, run.Assigns, c)
}

// recordRun records a run with everything it inherits.
func (w *walker) recordRun(run Run, c inherited) {
	if len(w.out.Runs) >= maxRuns {
		w.out.Truncated = true
		return
	}
	run.Via = c.via
	run.Redirects = c.redirs
	run.From = c.from
	run.Input, run.HasInput = c.input, c.hasInput
	run.Dirs = w.dirs
	run.Func = c.fn
	run.Remote, run.Contained, run.Background = c.remote, c.contained, c.bg
	run.Endless = c.endless
	run.Sink = c.sink
	run.Mounts = c.mounts
	w.out.Runs = append(w.out.Runs, run)
	w.known.rememberWritten(len(w.out.Runs) - 1)
}

// linkPipes fills To from From once all runs are known.
func (w *walker) linkPipes() {
	runs := w.out.Runs
	for i := range runs {
		from := runs[i].From
		for j := from.Lo; j < from.Hi && j < len(runs); j++ {
			if runs[j].To.Empty() {
				runs[j].To = Span{Lo: i, Hi: i + 1}
				continue
			}
			runs[j].To.Hi = i + 1
		}
	}
}
