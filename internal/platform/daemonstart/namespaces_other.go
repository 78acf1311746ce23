//go:build !linux

package daemonstart

// checkNamespaces checks nothing: there are no namespaces.
func checkNamespaces(string) error { return nil }

// checkConfinement checks nothing: the system doesn't show it.
func checkConfinement(string) error { return nil }

// checkUnseen never fails: the system shows no process numbers.
func checkUnseen() error { return nil }

// IsConfinedElsewhere is never known: there are no namespaces.
func IsConfinedElsewhere(int) bool { return false }
