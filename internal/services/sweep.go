package services

import "github.com/hookmux/hookmux/internal/platform/files"

// SweepState moves away what isn't a file in the state folder, before anything there is opened.
func SweepState(d Deps) {
	for _, m := range files.SweepFolder(d.Dirs.State) {
		if m.Err != nil {
			d.Problems.Raise("unfit:"+m.Path, m.Path+" is not a file of hookmux and cannot be set aside: "+
				m.Err.Error(), "remove it")
			continue
		}
		d.Problems.Raise("unfit:"+m.Path, m.Path+" is not a regular file; it was set aside",
			"look at "+m.Aside+", and remove it")
	}
}
