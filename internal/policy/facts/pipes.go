package facts

import "github.com/hookmux/hookmux/internal/policy/shell"

// RunsIn returns the runs of a span, if there are any.
func RunsIn(s *shell.Script, span shell.Span) []shell.Run {
	from := min(span.Lo, len(s.Runs))
	return s.Runs[from:max(from, min(span.Hi, len(s.Runs)))]
}

// RunsIn returns the runs of a span of x's command.
func (x *Scope) RunsIn(span shell.Span) []shell.Run { return RunsIn(x.Script, span) }

// Sources returns the runs of a span and, through pipes, all that feeds them.
func (x *Scope) Sources(span shell.Span) []*shell.Run {
	return x.followPipes(span, func(r *shell.Run) shell.Span { return r.From })
}

// Sinks returns the runs of a span and, through pipes, all that they feed.
func (x *Scope) Sinks(span shell.Span) []*shell.Run {
	return x.followPipes(span, func(r *shell.Run) shell.Span { return r.To })
}

// followPipes visits each run once, so that no pipe is too long for it.
func (x *Scope) followPipes(span shell.Span, next func(*shell.Run) shell.Span) []*shell.Run {
	if span.Empty() {
		return nil
	}
	if len(x.visited) < len(x.Script.Runs) {
		x.visited = make([]int32, len(x.Script.Runs))
	}
	x.visit++
	var found []*shell.Run
	for open := []shell.Span{span}; len(open) > 0; open = open[1:] {
		for i := open[0].Lo; i < min(open[0].Hi, len(x.Script.Runs)); i++ {
			if x.visited[i] == x.visit {
				continue
			}
			x.visited[i] = x.visit
			r := &x.Script.Runs[i]
			found = append(found, r)
			if to := next(r); !to.Empty() {
				open = append(open, to)
			}
		}
	}
	return found
}
