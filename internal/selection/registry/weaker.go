package registry

import (
	"reflect"
	"slices"
)

// Weaker says, a line each, which hooks a text has no more, has otherwise, or has in
// addition to the one in force.
func (r *Registry) Weaker(before, after []byte) (list []string) {
	was, _ := Parse(before, r.opt.Known) // what cannot be read was not in force
	is, problems := Parse(after, r.opt.Known)
	if len(problems) > 0 && after != nil {
		return nil // it cannot be accepted
	}
	for _, one := range was {
		switch at := indexOf(is, one.ID); {
		case at < 0:
			list = append(list, "hook "+one.ID+" is removed")
		case !reflect.DeepEqual(one.Registration, is[at].Registration):
			list = append(list, "hook "+one.ID+" is changed")
		}
	}
	for _, one := range is {
		if indexOf(was, one.ID) < 0 {
			list = append(list, "hook "+one.ID+" is added, and may say yes")
		}
	}
	slices.Sort(list)
	return list
}
