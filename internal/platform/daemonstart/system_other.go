//go:build !unix

package daemonstart

import "time"

func systemDaemon() int { return 0 }

func ensureSystem(time.Time, func() error) error { return errSystem }
