//go:build !linux

package proc

// InOtherNamespace is never true: this system has no namespaces.
func InOtherNamespace(int) bool { return false }

// Container returns the same name for every process: this system doesn't distinguish them.
func Container(int) string { return "container" }
