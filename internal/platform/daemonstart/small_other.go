//go:build !unix

package daemonstart

import "os"

func writeSmall(path string, content []byte) error { return os.WriteFile(path, content, 0o600) }
