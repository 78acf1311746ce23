package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a script's variables and functions are known to hold.

type function struct {
	body *syntax.Stmt
	src  string
	busy bool
}

func (w *walker) declareFunction(f *syntax.FuncDecl, c inherited) {
	names := f.Names
	if f.Name != nil {
		names = append(names, f.Name)
	}
	c.from = Span{}
	for _, n := range names {
		if w.funcs == nil {
			w.funcs = map[string]*function{}
		}
		w.funcs[n.Value] = &function{body: f.Body, src: w.src}
		c.fn = n.Value
	}
	saved := w.dropPositional()
	dirs := w.dirs
	w.walkStmt(f.Body, c)
	w.dirs = dirs
	w.restorePositional(saved)
}

// callFunction walks a function's body once more with the arguments of this call.
func (w *walker) callFunction(fn *function, argv []Word, c inherited) {
	if fn.busy || c.depth >= maxDepth {
		return
	}
	fn.busy = true
	saved := w.dropPositional()
	for i, a := range argv[1:] {
		if i < 9 {
			w.setValue(strconv.Itoa(i+1), a)
		}
	}
	w.setList("@", argv[1:])
	w.setList("*", argv[1:])
	c = c.withVia(argv[0].Text + "()")
	c.depth++
	c.fn = argv[0].Text
	src := w.src
	w.src = fn.src
	w.walkStmt(fn.body, c)
	w.src = src
	w.restorePositional(saved)
	fn.busy = false
}

var positional = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}

func (w *walker) dropPositional() map[string]Word {
	saved := map[string]Word{}
	for _, p := range positional {
		if v, ok := w.vars[p]; ok {
			saved[p] = v
			delete(w.vars, p)
		}
	}
	return saved
}

func (w *walker) restorePositional(saved map[string]Word) {
	for _, p := range positional {
		delete(w.vars, p)
	}
	for k, v := range saved {
		w.vars[k] = v
	}
}

// setValue remembers a value if it is known well enough to be of use.
func (w *walker) setValue(name string, v Word) {
	if w.taint == nil {
		w.taint = map[string]Span{}
	}
	delete(w.taint, name)
	if !v.From.Empty() {
		w.taint[name] = v.From
	}
	wellKnown := !v.Dynamic || strings.HasPrefix(v.Bare, "$") || strings.HasPrefix(v.Bare, "/") || v.Bare == "x"
	if !wellKnown || len(v.Text) > maxValue {
		delete(w.vars, name)
		return
	}
	if w.vars == nil {
		w.vars = map[string]Word{}
	}
	v.From = Span{}
	w.vars[name] = v
}

// setList remembers a list, as in a=(x y) or set -- x y. Words with blanks in
// them come apart again, which is close enough.
func (w *walker) setList(name string, list []Word) {
	if len(list) == 0 || len(list) > maxLoop*4 {
		delete(w.vars, name)
		return
	}
	all := list[0]
	for _, e := range list[1:] {
		all.Text += " " + e.Text
		all.Bare += " " + e.Bare
		all.Dynamic = all.Dynamic || e.Dynamic
		all.Glob = all.Glob || e.Glob
	}
	w.setValue(name, all)
}

func (w *walker) readAssign(a *syntax.Assign, c inherited) (Assign, bool) {
	if a.Name == nil {
		if a.Value != nil {
			w.joinWord(a.Value, c)
		}
		return Assign{}, false
	}
	if a.Array != nil {
		var all []Word
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				all = append(all, w.splitFields(e.Value, c)...)
			}
		}
		w.setList(a.Name.Value, all)
		return Assign{Name: a.Name.Value}, true
	}
	v := w.joinWord(a.Value, c)
	return Assign{Name: a.Name.Value, Value: v}, true
}

func (w *walker) keepAssign(a *syntax.Assign, as Assign) {
	if a.Append {
		old, ok := w.vars[as.Name]
		if !ok {
			return
		}
		as.Value.Text = old.Text + as.Value.Text
		as.Value.Bare = old.Bare + as.Value.Bare
		as.Value.Dynamic = as.Value.Dynamic || old.Dynamic
	}
	w.setValue(as.Name, as.Value)
}

// walkDeclaration handles export, declare, local, readonly: assignments, and a run of its
// own so that `export HOOKMUX_X=1` can be seen.
func (w *walker) walkDeclaration(d *syntax.DeclClause, c inherited) {
	run := Run{Argv: []Word{{Text: d.Variant.Value, Bare: d.Variant.Value}}}
	in := c
	in.sink = "export"
	for _, a := range d.Args {
		if a.Naked {
			if a.Name != nil {
				run.Argv = append(run.Argv, Word{Text: a.Name.Value, Bare: a.Name.Value})
			} else {
				run.Argv = append(run.Argv, w.splitFields(a.Value, in)...)
			}
			continue
		}
		// export X=$(…) keeps the output in a variable: that is not loading.
		if as, ok := w.readAssign(a, c); ok {
			if a.Array == nil {
				w.keepAssign(a, as)
			}
			run.Assigns = append(run.Assigns, as)
		}
	}
	w.recordRun(run, c)
}
