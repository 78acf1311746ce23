//go:build !unix

package spool

import "os"

// lockFile does nothing: hubs run on Unix only.
func lockFile(*os.File) bool { return true }
