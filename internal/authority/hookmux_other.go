//go:build !linux

package authority

import "os"

func fileKey(os.FileInfo) (programKey, bool) { return programKey{}, false }
