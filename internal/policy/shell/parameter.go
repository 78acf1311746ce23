package shell

import (
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// addParameter adds what $x, ${x…} or ${x[…]} expands to.
func (w *walker) addParameter(b *fieldBuilder, p *syntax.ParamExp, c inherited, quoted bool) {
	text := w.sourceOf(p)
	if p.Param == nil {
		w.walkInside(p, c)
		b.addDynamic(text, "")
		return
	}
	name := p.Param.Value
	if addList(w, b, p, quoted) {
		return
	}
	if plain := *p; p.Excl {
		plain.Excl = false
		if v, ok := w.vars.lookupVariable(name); ok && !v.Dynamic && isPlain(&plain) {
			w.addPlain(b, v.Text, "$"+v.Text, quoted)
			return
		}
	}
	if isPlain(p) {
		w.addPlain(b, name, text, quoted)
		return
	}
	if p.Length || p.IsSet || p.Width {
		b.addDynamic(text, "0")
		return
	}
	if key, ok := literalIndex(p.Index); ok && p.Exp == nil && p.Repl == nil && p.Slice == nil {
		v, known := w.vars.lookupVariable(name + "[" + key + "]")
		if n, err := strconv.Atoi(key); !known && err == nil && n >= 0 && n < len(w.vars.lists[name]) {
			v, known = w.vars.lists[name][n], true
		}
		if known {
			b.addValue(v, quoted)
			return
		}
	}
	if v, ok := evaluateParameter(w, p); ok {
		b.addValue(v, quoted)
		return
	}
	if p.Exp == nil {
		w.walkInside(p, c)
		b.cur.Vars = append(b.cur.Vars, name)
		b.addDynamic(text, "")
		return
	}
	w.addAlternative(b, p, c, quoted)
}

// isPlain reports whether the expansion is just $x or ${x}.
func isPlain(p *syntax.ParamExp) bool {
	return p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Index == nil &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil && len(p.Modifiers) == 0
}

func (w *walker) addPlain(b *fieldBuilder, name, text string, quoted bool) {
	if span, ok := w.vars.origins[name]; ok {
		b.cur.From = span
	}
	if name == "IFS" && !quoted && b.split {
		b.endField() // rm${IFS}-rf${IFS}/ is three words
		return
	}
	if _, set := w.vars.lookupVariable(name); name == "IFS" && !set {
		b.addLiteral(" ")
		return
	}
	if v, ok := w.vars.lookupVariable(name); ok {
		v.Vars = append(v.Vars[:len(v.Vars):len(v.Vars)], name)
		b.addValue(v, quoted)
		return
	}
	b.cur.Vars = append(b.cur.Vars, name)
	bare := ""
	if programs.AlwaysSet(name) {
		bare = text
	}
	b.addDynamic(text, bare)
}

// addAlternative handles ${x:-word} and the other operators that take a word.
func (w *walker) addAlternative(b *fieldBuilder, p *syntax.ParamExp, c inherited, quoted bool) {
	name, text := p.Param.Value, w.sourceOf(p)
	alt := w.joinWord(p.Exp.Word, c)
	known, isKnown := w.vars.lookupVariable(name)
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if isKnown && known.Text != "" {
			b.addValue(known, quoted)
			return
		}
		b.cur.Vars = append(b.cur.Vars, name)
		if programs.AlwaysSet(name) {
			b.addDynamic("$"+name, "$"+name)
			return
		}
		// The default is the one value that is known to be possible.
		alt.Dynamic = true
		if alt.Text == "" {
			alt.Text = text
		}
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			w.vars.setValue(name, alt)
		}
		b.addValue(alt, quoted)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if isKnown {
			b.addValue(known, quoted)
			return
		}
		b.cur.Vars = append(b.cur.Vars, name)
		if programs.AlwaysSet(name) {
			b.addDynamic("$"+name, "$"+name)
			return
		}
		b.addDynamic(text, "x") // the shell stops rather than use an empty value
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		alt.Dynamic = true
		if alt.Text == "" {
			alt.Text = text
		}
		b.addValue(alt, quoted)
	default:
		b.cur.Vars = append(b.cur.Vars, name)
		suffix := p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix
		if programs.AlwaysSet(name) && suffix && alt.Text == "/" {
			b.addDynamic("$"+name, "$"+name) // ${HOME%/}
			return
		}
		if programs.AlwaysSet(name) && p.Exp.Op == syntax.RemSmallSuffix && alt.Text == "/*" {
			b.addDynamic("$"+name+"/..", "$"+name+"/..") // ${PWD%/*}
			return
		}
		b.addDynamic(text, "")
	}
}

// addList adds the elements that "$@", "${a[@]}" or a slice of them expands to. It reports
// false for every other expansion.
func addList(w *walker, b *fieldBuilder, p *syntax.ParamExp, quoted bool) bool {
	name := p.Param.Value
	all := (name == "@" || name == "*") && p.Index == nil
	joins := name == "*"
	if key, ok := literalIndex(p.Index); ok && (key == "@" || key == "*") {
		all, joins = true, key == "*"
	}
	if !all || p.Excl || p.Length || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		return false
	}
	list, ok := w.vars.listOf(name)
	if !ok {
		return false
	}
	if p.Slice != nil {
		if list, ok = sliceList(list, p, name == "@" || name == "*"); !ok {
			return false
		}
	}
	for i, v := range list {
		switch {
		case i > 0 && quoted && joins || i > 0 && !b.split:
			b.addLiteral(" ")
		case i > 0:
			b.endField()
		}
		if len(v.Vars) > 0 || !v.From.Empty() {
			b.cur.From = v.From
		}
		b.addValue(v, quoted)
	}
	return true
}

// isEmptyList reports whether "…" is nothing but a list without elements, which
// makes no word at all.
func (w *walker) isEmptyList(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return false
	}
	b := &fieldBuilder{split: true, seps: w.vars.separators()}
	return addList(w, b, p, true) && len(b.done) == 0 && !b.open
}

// sliceList cuts ${a[@]:from:count}. The positional parameters are numbered from 1.
func sliceList(list []Word, p *syntax.ParamExp, positional bool) ([]Word, bool) {
	from, ok := literalNumber(p.Slice.Offset)
	if !ok || from < 0 {
		return nil, false
	}
	if positional && from > 0 {
		from--
	}
	from = min(from, len(list))
	list = list[from:]
	if p.Slice.Length == nil {
		return list, true
	}
	count, ok := literalNumber(p.Slice.Length)
	if !ok || count < 0 {
		return nil, false
	}
	return list[:min(count, len(list))], true
}

func literalNumber(e syntax.ArithmExpr) (int, bool) {
	text, ok := literalIndex(e)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// maxEvaluated limits what all operators such as ${x//a/b} of a script may cost: the length of
// a value times that of the operator.
const maxEvaluated = 1 << 18

// evaluateParameter evaluates ${x#…}, ${x/…/…}, ${x:…} and the like if the value of x is known in
// full.
func evaluateParameter(w *walker, p *syntax.ParamExp) (Word, bool) {
	if p.Excl || p.Names != 0 || p.Index != nil || p.Exp == nil && p.Repl == nil && p.Slice == nil {
		return Word{}, false
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
			syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		case syntax.OtherParamOps: // ${x@Q} quotes, ${x@L} makes small letters of it
			v, ok := w.vars.lookupVariable(p.Param.Value)
			return v, ok
		default:
			return Word{}, false
		}
	}
	v, ok := w.vars.lookupVariable(p.Param.Value)
	if !ok && IsPlace(p.Param.Value) {
		v, ok = Word{Text: "$" + p.Param.Value, Dynamic: true, Vars: []string{p.Param.Value}}, true
		v.Bare = v.Text
	}
	// For "$HOME/app" the end is known, and what ${x%/*} leaves of it.
	endKnown := p.Exp != nil && (p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix) &&
		strings.LastIndexByte(v.Text, '$') == 0 && v.Text == v.Bare && strings.Contains(v.Text, "/")
	marked := v.Text
	if v.Dynamic || v.Tilde {
		marked = MarkPlaces(v.Text, v.Tilde)
	}
	placed := marked != v.Text && !strings.ContainsAny(marked, "$`")
	if !placed {
		marked = v.Text
	}
	if !ok || v.Dynamic && !endKnown && !placed {
		return Word{}, false
	}
	if w.worked += len(v.Text) * int(p.End().Offset()-p.Pos().Offset()); w.worked > maxEvaluated {
		w.out.Truncated = true
		return Word{}, false
	}
	cfg := &expand.Config{Env: expand.FuncEnviron(func(name string) string {
		if name == p.Param.Value {
			return marked
		}
		if known, ok := w.vars.lookupVariable(name); ok && !known.Dynamic {
			return known.Text
		}
		return ""
	})}
	text, err := expand.Literal(cfg, &syntax.Word{Parts: []syntax.WordPart{p}})
	if err != nil {
		return Word{}, false
	}
	if placed {
		if text, ok = UnmarkPlaces(text); !ok {
			return Word{}, false
		}
		v.Dynamic, v.Tilde = strings.Contains(text, "$"), false
	}
	v.Text, v.Bare = text, text
	v.Glob = v.Glob && strings.ContainsAny(text, "*?[")
	return v, true
}
