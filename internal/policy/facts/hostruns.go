package facts

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/shell"
)

// inContainer is put before paths of a container, which are not paths of this machine: a
// scratch folder, so that no rule mistakes them for something else.
const inContainer = "/tmp/in-a-container"

// HostRuns returns the runs in containers as this machine sees them: if a bind mount covers
// one of their paths, docker run -v /:/host … /host/home means /home. Runs that touch no mount
// are left out.
func (x *Scope) HostRuns() []*shell.Run {
	var out []*shell.Run
	for i := range x.Script.Runs {
		if len(out) >= 256 {
			break
		}
		if h, ok := HostRun(&x.Script.Runs[i]); ok {
			out = append(out, h)
		}
	}
	return out
}

// HostRun returns one run in a container as this machine sees it; ok is false for runs
// that touch no mount.
func HostRun(r *shell.Run) (*shell.Run, bool) {
	if !r.Contained || len(r.Mounts) == 0 {
		return nil, false
	}
	h := *r
	touched := false
	translate := func(w shell.Word) shell.Word {
		if t, ok := r.OnHost(w); ok {
			touched = true
			return t
		}
		if path.IsAbs(w.Text) && !strings.HasPrefix(w.Text, "/dev/") {
			w.Text, w.Bare = inContainer+w.Text, inContainer+w.Bare
		}
		return w
	}
	if len(r.Argv) > 0 {
		h.Argv = append([]shell.Word{}, r.Argv[0])
		for _, a := range r.Argv[1:] {
			h.Argv = append(h.Argv, translate(a))
		}
	}
	h.Redirects = append([]shell.Redirect(nil), r.Redirects...)
	for i := range h.Redirects {
		h.Redirects[i].Target = translate(h.Redirects[i].Target)
	}
	h.Dirs = append([]shell.Word(nil), r.Dirs...)
	for i := range h.Dirs {
		h.Dirs[i] = translate(h.Dirs[i])
	}
	h.Contained = false
	return &h, touched
}
