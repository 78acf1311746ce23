//go:build !linux && !darwin

package files

import "io/fs"

// ChangedAt is not known here.
func ChangedAt(fs.FileInfo) int64 { return 0 }
