package importer

// KindOf returns the kind that one of agent-mux's own names for an event stands
// for, so that people may go on using the names they know.
func KindOf(name string) (string, bool) {
	t, ok := amuxTypes[name]
	return t.kind, ok
}
