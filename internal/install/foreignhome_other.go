//go:build !unix

package install

// ForeignHomeWarning says nothing here.
func ForeignHomeWarning(string) string { return "" }
