package importer

// KindOf returns the kind that one of agent-mux's own event names represents, so that its
// users can keep using the names they know.
func KindOf(name string) (string, bool) {
	t, ok := amuxTypes[name]
	return t.kind, ok
}
