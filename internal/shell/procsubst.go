package shell

import "mvdan.cc/sh/v3/syntax"

// walkFed walks the inside of >(…), which reads what the runs of from write.
func (w *walker) walkFed(list []*syntax.Stmt, from Span, c inherited) {
	c.from, c.redirs = from, nil
	if c.depth++; c.depth > 4*maxDepth {
		w.out.Truncated = true
		return
	}
	w.walkScoped(list, c)
}

// writesTo finds the process that "> >(…)" writes to.
func writesTo(r *syntax.Redirect) *syntax.ProcSubst {
	if r.Word == nil || len(r.Word.Parts) != 1 || r.Op == syntax.RdrIn {
		return nil
	}
	if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
		return p
	}
	return nil
}
