package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variables holds what is known about a script's variables at one point of it.
type variables struct {
	values  map[string]Word
	lists   map[string][]Word // arrays; the positional parameters are the list "@"
	origins map[string]Span   // runs whose output a variable holds
	refs    map[string]string // names that refer to others: declare -n
	// undo holds the variables' values before a change that will be undone.
	undo   []binding
	noting bool
}

// binding is the value of a variable.
type binding struct {
	name   string
	value  *Word
	list   []Word
	isList bool
	origin *Span
}

// bindingOf returns the current value of a variable.
func (v *variables) bindingOf(name string) binding {
	b := binding{name: name}
	if value, ok := v.values[name]; ok {
		b.value = &value
	}
	b.list, b.isList = v.lists[name]
	if origin, ok := v.origins[name]; ok {
		b.origin = &origin
	}
	return b
}

// restore restores the previous values of variables, the last change first.
func (v *variables) restore(list []binding) {
	for _, b := range slices.Backward(list) {
		v.forget(b.name)
		if b.value != nil {
			v.setValue(b.name, *b.value)
		}
		if b.isList {
			v.setList(b.name, b.list)
		}
		if b.origin != nil {
			v.setOrigin(b.name, *b.origin)
		}
	}
}

// withoutChanges runs f and undoes what it does to variables.
func (v *variables) withoutChanges(f func()) {
	from, outer := len(v.undo), v.noting
	v.noting = true
	f()
	v.noting = false // to the caller, what is undone isn't a change
	changed := slices.Clone(v.undo[from:])
	v.undo = v.undo[:from]
	v.restore(changed)
	v.noting = outer
}

// target returns the name that a name refers to.
func (v *variables) target(name string) string {
	for range maxRefs {
		to, ok := v.refs[name]
		if !ok {
			break
		}
		name = to
	}
	return name
}

// maxRefs limits chains of names that refer to names.
const maxRefs = 8

// maxList limits how many elements of a list are remembered.
const maxList = 64

// lookupVariable returns the value of a variable: for an array, its first element.
func (v *variables) lookupVariable(name string) (Word, bool) {
	name = v.target(name)
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		if list := v.lists["@"]; n <= len(list) {
			return list[n-1], true
		}
		return Word{}, false
	}
	if value, ok := v.values[name]; ok {
		return value, true
	}
	if list := v.lists[name]; len(list) > 0 && name != "@" {
		return list[0], true
	}
	return Word{}, false
}

// separators returns where an unquoted expansion is split into words.
func (v *variables) separators() string {
	if ifs, ok := v.values["IFS"]; ok && !ifs.Dynamic {
		return ifs.Text
	}
	return " \t\n"
}

// listOf returns all elements of an array, or the positional parameters for "@" and "*".
func (v *variables) listOf(name string) ([]Word, bool) {
	name = v.target(name)
	if name == "*" {
		name = "@"
	}
	list, ok := v.lists[name]
	if !ok {
		if value, known := v.values[name]; known {
			return []Word{value}, true
		}
	}
	return list, ok
}

// setValue remembers a value if enough of it is known to be of use.
func (v *variables) setValue(name string, value Word) {
	name = v.target(name)
	v.forget(name)
	if !value.From.Empty() {
		v.setOrigin(name, value.From)
	}
	if !isWorthKeeping(value) {
		return
	}
	if v.values == nil {
		v.values = map[string]Word{}
	}
	value.From = Span{}
	v.values[name] = value
}

// isWorthKeeping reports whether the value is known, or what program it starts with, or in
// which directory it is.
func isWorthKeeping(value Word) bool {
	if len(value.Text) > maxValue {
		return false
	}
	if !value.Dynamic || value.Text == value.Bare || value.Bare == "x" ||
		strings.HasPrefix(value.Bare, "$") || strings.HasPrefix(value.Bare, "/") {
		return true
	}
	first, _, several := strings.Cut(value.Text, " ")
	return several && first != "" && !strings.ContainsAny(first, "$`=")
}

// setList remembers the elements of an array.
func (v *variables) setList(name string, list []Word) {
	name = v.target(name)
	v.forget(name)
	if len(list) > maxList {
		return
	}
	if v.lists == nil {
		v.lists = map[string][]Word{}
	}
	v.lists[name] = list
}

func (v *variables) setOrigin(name string, from Span) {
	if v.origins == nil {
		v.origins = map[string]Span{}
	}
	v.origins[name] = from
}

func (v *variables) forget(name string) {
	if v.noting {
		v.undo = append(v.undo, v.bindingOf(name))
	}
	delete(v.values, name)
	delete(v.lists, name)
	delete(v.origins, name)
}

// setRef makes a name refer to another.
func (v *variables) setRef(name, to string) {
	if v.refs == nil {
		v.refs = map[string]string{}
	}
	v.refs[name] = to
}

// parameters are $0, and $1 … as one list.
type parameters struct {
	zero    Word
	hasZero bool
	list    []Word
	hasArgs bool
}

// replaceParameters sets $1 … to list and returns what they were.
func (v *variables) replaceParameters(list []Word, known bool) parameters {
	var saved parameters
	saved.zero, saved.hasZero = v.values["0"]
	saved.list, saved.hasArgs = v.lists["@"]
	v.forget("@")
	delete(v.values, "0")
	if known {
		v.setList("@", list)
	}
	return saved
}

func (v *variables) restoreParameters(saved parameters) {
	v.forget("@")
	delete(v.values, "0")
	if saved.hasArgs {
		v.setList("@", saved.list)
	}
	if saved.hasZero {
		v.setValue("0", saved.zero)
	}
}

// shiftParameters drops the first n positional parameters.
func (v *variables) shiftParameters(n int) {
	list, ok := v.lists["@"]
	if !ok || n < 0 || n > len(list) {
		return
	}
	v.lists["@"] = list[n:]
}

// function is one that the script declares.
type function struct {
	body *syntax.Stmt
	src  string
	// words is the number of words of the call being walked, 0 for none: a call made inside it
	// must have fewer, or walking it wouldn't end.
	words int
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
	saved := w.vars.replaceParameters(nil, false)
	dirs := w.dirs
	w.vars.withoutChanges(func() { w.withLocals(func() { w.walkStmt(f.Body, c) }) })
	w.dirs = dirs
	w.vars.restoreParameters(saved)
}

// callFunction walks a function's body once more with the arguments of this call.
func (w *walker) callFunction(fn *function, argv []Word, c inherited) {
	around := fn.words
	if around > 0 && len(argv) >= around || c.depth >= maxDepth {
		return
	}
	fn.words = len(argv)
	saved := w.vars.replaceParameters(argv[1:], true)
	c = c.withVia(argv[0].Text + "()")
	c.depth++
	c.fn = argv[0].Text
	src := w.src
	w.src = fn.src
	w.withLocals(func() { w.walkStmt(fn.body, c) })
	w.src = src
	w.vars.restoreParameters(saved)
	fn.words = around
}

// withLocals runs f, the body of a function, and then restores the variables that are local to
// it.
func (w *walker) withLocals(f func()) {
	outer := w.locals
	w.locals = nil
	f()
	w.vars.restore(w.locals)
	w.locals = outer
}

func (w *walker) readAssign(a *syntax.Assign, c inherited) (Assign, bool) {
	if a.Name == nil {
		if a.Value != nil {
			w.joinWord(a.Value, c)
		}
		return Assign{}, false
	}
	if a.Array != nil {
		w.readArray(a, c)
		return Assign{Name: a.Name.Value}, true
	}
	if a.Index != nil {
		w.walkInside(a.Index, c)
	}
	v := w.joinWord(a.Value, c)
	return Assign{Name: a.Name.Value, Value: v}, true
}

// readArray remembers name=(…) and name+=(…). Elements that have a key are remembered one by
// one.
func (w *walker) readArray(a *syntax.Assign, c inherited) {
	name := a.Name.Value
	var all []Word
	if a.Append {
		all, _ = w.vars.listOf(name)
		all = all[:len(all):len(all)]
	}
	for _, e := range a.Array.Elems {
		if e.Value == nil {
			continue
		}
		fields := w.splitFields(e.Value, c)
		if key, ok := literalIndex(e.Index); ok && len(fields) > 0 {
			w.vars.setValue(name+"["+key+"]", fields[0])
		}
		all = append(all, fields...)
	}
	w.vars.setList(name, all)
}

// literalIndex returns the text of an index that is written out.
func literalIndex(index syntax.ArithmExpr) (string, bool) {
	word, ok := index.(*syntax.Word)
	if !ok {
		return "", false
	}
	if len(word.Parts) == 1 {
		if q, quoted := word.Parts[0].(*syntax.DblQuoted); quoted && len(q.Parts) == 1 {
			if l, literal := q.Parts[0].(*syntax.Lit); literal {
				return l.Value, true
			}
		}
		if q, quoted := word.Parts[0].(*syntax.SglQuoted); quoted {
			return q.Value, true
		}
	}
	lit := word.Lit()
	return lit, lit != ""
}

// keepAssign remembers the value of an assignment that lasts.
func (w *walker) keepAssign(a *syntax.Assign, as Assign) {
	name := as.Name
	if key, ok := literalIndex(a.Index); ok && a.Index != nil {
		if n, err := strconv.Atoi(key); err == nil && n == len(w.vars.lists[name]) && n < maxList {
			w.vars.setList(name, append(w.vars.lists[name][:n:n], as.Value))
		}
		name += "[" + key + "]"
	}
	if a.Append {
		old, ok := w.vars.lookupVariable(name)
		if !ok {
			return
		}
		as.Value.Text = old.Text + as.Value.Text
		as.Value.Bare = old.Bare + as.Value.Bare
		as.Value.Dynamic = as.Value.Dynamic || old.Dynamic
	}
	w.vars.setValue(name, as.Value)
}

// walkDeclaration handles export, declare, local, readonly: assignments, and a separate run so
// that `export HOOKMUX_X=1` can be seen.
func (w *walker) walkDeclaration(d *syntax.DeclClause, c inherited) {
	run := Run{Argv: []Word{{Text: d.Variant.Value, Bare: d.Variant.Value}}}
	in := c
	in.sink = "export"
	refers := false // declare -n
	local := c.fn != "" && slices.Contains([]string{"local", "declare", "typeset"}, d.Variant.Value)
	for _, a := range d.Args {
		if local && a.Name != nil {
			w.locals = append(w.locals, w.vars.bindingOf(a.Name.Value))
		}
		if a.Naked {
			if a.Name != nil {
				run.Argv = append(run.Argv, Word{Text: a.Name.Value, Bare: a.Name.Value})
			} else {
				run.Argv = append(run.Argv, w.splitFields(a.Value, in)...)
				option := run.Argv[len(run.Argv)-1].Text
				local = local && !(strings.HasPrefix(option, "-") && strings.Contains(option, "g"))
				refers = refers || d.Variant.Value != "export" && strings.HasPrefix(option, "-") && strings.Contains(option, "n")
			}
			continue
		}
		// export X=$(…) keeps the output in a variable: that is not loading.
		if as, ok := w.readAssign(a, c); ok {
			switch {
			case a.Array != nil:
			case refers && !as.Value.Dynamic && as.Name != as.Value.Text:
				w.vars.setRef(as.Name, as.Value.Text)
			default:
				w.keepAssign(a, as)
			}
			run.Assigns = append(run.Assigns, as)
		}
	}
	w.recordRun(run, c)
	walkCommandVariables(w, run.Assigns, c)
}

// assignFor sets the variables of one command, and returns a function that undoes that.
func (v *variables) assignFor(assigns []Assign) (restore func()) {
	saved := map[string]Word{}
	for _, as := range assigns {
		if old, ok := v.lookupVariable(as.Name); ok {
			saved[as.Name] = old
		}
		v.setValue(as.Name, as.Value)
	}
	return func() {
		for _, as := range assigns {
			v.forget(as.Name)
			if old, ok := saved[as.Name]; ok {
				v.setValue(as.Name, old)
			}
		}
	}
}
