//go:build !unix

package statefiles

import "io/fs"

// foreignWords knows nothing here: hookmux refuses to run on such systems.
func foreignWords(fs.FileInfo) string { return "" }
