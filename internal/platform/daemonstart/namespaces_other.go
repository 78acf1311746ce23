//go:build !linux

package daemonstart

// checkNamespaces checks nothing: there are no namespaces.
func checkNamespaces(string) error { return nil }

// checkConfinement checks nothing: nothing tells of it.
func checkConfinement(string) error { return nil }

// checkUnseen refuses nobody: the system tells no numbers of processes.
func checkUnseen() error { return nil }

// IsConfinedElsewhere is never known: there are no namespaces.
func IsConfinedElsewhere(int) bool { return false }
