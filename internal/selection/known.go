package selection

import "github.com/hookmux/hookmux/hook"

func (r *Service) knowsAgent(name string) bool {
	_, ok := r.Catalogue.Agent(name)
	return ok
}

// knowsType: a native name must be one of the agent's, or of any agent's for
// "*".
func (r *Service) knowsType(name, native string) bool {
	if name != hook.Any {
		return r.knowsEvent(name, native)
	}
	for _, a := range r.Catalogue.Agents() {
		if _, ok := a.Event(native); ok {
			return true
		}
	}
	return false
}

// knowsEvent reports whether an agent has an event of that name.
func (r *Service) knowsEvent(name, native string) bool {
	a, ok := r.Catalogue.Agent(name)
	if !ok {
		return false
	}
	_, ok = a.Event(native)
	return ok
}
