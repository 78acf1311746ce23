//go:build !unix

package paths

import "os"

// ours can't be answered here; hookmux refuses to run on such systems anyway.
func ours(os.FileInfo) bool { return false }
