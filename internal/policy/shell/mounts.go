package shell

import "strings"

// OnHost translates a path inside the container to the place it has on this machine. ok is false
// if no mount covers it.
func (r *Run) OnHost(w Word) (Word, bool) {
	t := w.Text
	if !strings.HasPrefix(t, "/") {
		return w, false
	}
	best := -1
	for i, m := range r.Mounts {
		if t != m.Inside && !strings.HasPrefix(t, m.Inside+"/") {
			continue
		}
		if best < 0 || len(m.Inside) > len(r.Mounts[best].Inside) {
			best = i
		}
	}
	if best < 0 {
		return w, false
	}
	m := r.Mounts[best]
	rest := t[len(m.Inside):]
	out := m.Host
	out.Text = strings.TrimRight(out.Text, "/") + rest
	out.Bare = strings.TrimRight(out.Bare, "/") + rest
	if out.Text == "" {
		out.Text, out.Bare = "/", "/"
	}
	out.Glob = w.Glob
	out.Dynamic = out.Dynamic || w.Dynamic
	out.From = w.From
	return out, true
}

// rootMount returns the mount that chroot makes of a directory: the root.
func rootMount(root Word, c inherited) Mount {
	outside := Run{Mounts: c.mounts}
	if host, ok := outside.OnHost(root); ok {
		root = host
	}
	return Mount{Host: root}
}
