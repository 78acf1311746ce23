package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// fieldBuilder collects the words that one written word becomes: unquoted expansions are
// split at blanks, everything else stays together.
type fieldBuilder struct {
	done  []Word
	cur   Word
	text  strings.Builder
	bare  strings.Builder
	open  bool   // cur holds something, even if only ""
	split bool   // unquoted expansions split
	seps  string // where they do: IFS, if it is known
}

func (b *fieldBuilder) addLiteral(s string) {
	b.open = true
	b.text.WriteString(s)
	b.bare.WriteString(s)
}

func (b *fieldBuilder) addDynamic(text, bare string) {
	b.open = true
	b.cur.Dynamic = true
	b.text.WriteString(text)
	b.bare.WriteString(bare)
}

func (b *fieldBuilder) endField() {
	if !b.open {
		return
	}
	b.cur.Text, b.cur.Bare = b.text.String(), b.bare.String()
	b.done = append(b.done, b.cur)
	b.cur = Word{}
	b.text.Reset()
	b.bare.Reset()
	b.open = false
}

// addValue adds the value of an expansion. Quoted ones are never split.
func (b *fieldBuilder) addValue(v Word, quoted bool) {
	b.cur.Vars = append(b.cur.Vars, v.Vars...)
	if quoted || !b.split || !strings.ContainsAny(v.Text, b.seps) {
		if b.text.Len() == 0 && v.Tilde {
			b.cur.Tilde = true
		}
		b.cur.Glob = b.cur.Glob || v.Glob || (!quoted && strings.ContainsAny(v.Text, "*?["))
		b.cur.Dynamic = b.cur.Dynamic || v.Dynamic
		b.open = b.open || quoted || v.Text != ""
		b.text.WriteString(v.Text)
		b.bare.WriteString(v.Bare)
		return
	}
	// Split by hand so that leading and trailing blanks end the word, too.
	rest := v.Text
	for rest != "" {
		if strings.IndexByte(b.seps, rest[0]) >= 0 {
			b.endField()
			rest = strings.TrimLeft(rest, b.seps)
			continue
		}
		piece := rest[:FieldEnd(rest, b.seps, v.Dynamic)]
		if v.Dynamic && strings.ContainsAny(piece, "$`") {
			b.addDynamic(piece, WithoutUnknown(piece))
		} else {
			b.addLiteral(piece)
		}
		b.cur.Glob = b.cur.Glob || strings.ContainsAny(piece, "*?[")
		rest = rest[len(piece):]
	}
}

// splitFields returns the words that word becomes.
func (w *walker) splitFields(word *syntax.Word, c inherited) []Word {
	w.takeStep()
	if len(word.Parts) == 1 {
		// Most words are one plain literal.
		if l, ok := word.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, "\\*?[{~") {
			return []Word{{Text: l.Value, Bare: l.Value}}
		}
	}
	if n := CountBraces(word); n > 0 {
		if n > maxOpen {
			w.out.Truncated = true
		} else if IsSplit(word) || syntax.SplitBraces(word) {
			var out []Word
			for alt, err := range expand.BracesSeq(nil, word) {
				if err != nil || len(out) >= maxBraces || !w.takeStep() {
					w.out.Truncated = w.out.Truncated || err != nil
					break
				}
				out = append(out, w.buildFields(alt, c, true)...)
			}
			return out
		}
	}
	return w.buildFields(word, c, true)
}

// joinWord returns word as a single Word, as in an assignment or a redirect.
func (w *walker) joinWord(word *syntax.Word, c inherited) Word {
	if word == nil {
		return Word{}
	}
	w.takeStep()
	ws := w.buildFields(word, c, false)
	if len(ws) == 0 {
		return Word{}
	}
	return ws[0]
}

func (w *walker) buildFields(word *syntax.Word, c inherited, split bool) []Word {
	b := &fieldBuilder{split: split, seps: w.vars.separators()}
	lo := len(w.out.Runs)
	for i, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(l.Value, "~") {
			b.cur.Tilde = true
		}
		w.addPart(b, p, c, false)
	}
	b.endField()
	if split && len(b.done) > 1 {
		// zsh, and a second reading by eval or ssh, expand a tilde that splitting brings to the
		// front: no file is named like that.
		for i := range b.done {
			b.done[i].Tilde = b.done[i].Tilde || strings.HasPrefix(b.done[i].Text, "~")
		}
	}
	if hi := len(w.out.Runs); hi > lo {
		for i := range b.done {
			b.done[i].From = Span{Lo: lo, Hi: hi}
		}
	}
	return b.done
}

func (w *walker) addPart(b *fieldBuilder, p syntax.WordPart, c inherited, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		s, glob := Remove(p.Value, quoted)
		b.addLiteral(s)
		b.cur.Glob = b.cur.Glob || glob
	case *syntax.SglQuoted:
		s := p.Value
		if p.Dollar {
			s = ANSIC(s)
		}
		b.addLiteral(s)
	case *syntax.DblQuoted:
		b.open = b.open || !w.isEmptyList(p)
		for _, q := range p.Parts {
			w.addPart(b, q, c, true)
		}
	case *syntax.ParamExp:
		w.addParameter(b, p, c, quoted)
	case *syntax.CmdSubst:
		lo := len(w.out.Runs)
		w.walkSubstitution(p.Stmts, c)
		if text, ok := w.known.substitutionOutput(Span{Lo: lo, Hi: len(w.out.Runs)}, p.Stmts); ok {
			b.addValue(Word{Text: text, Bare: text, Dynamic: strings.Contains(text, "$PWD") || strings.Contains(text,
				"$HOME")}, quoted)
			return
		}
		b.addDynamic(w.sourceOf(p), "")
	case *syntax.ProcSubst:
		if p.Op == syntax.CmdOut {
			// tee >(sh) passes on what it reads itself.
			w.walkFed(p.Stmts, c.from, c)
		} else {
			w.walkSubstitution(p.Stmts, c)
		}
		b.addDynamic(w.sourceOf(p), "x")
	case *syntax.ArithmExp:
		w.walkInside(p, c)
		b.addDynamic(w.sourceOf(p), "0")
	case *syntax.ExtGlob:
		b.addLiteral(p.Op.String() + p.Pattern.Value + ")")
		b.cur.Glob = true
	default:
		b.addDynamic(w.sourceOf(p), "")
	}
}
