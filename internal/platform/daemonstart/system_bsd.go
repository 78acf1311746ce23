//go:build unix && !linux

package daemonstart

// systemDaemon returns 0: there is no system service here.
func systemDaemon() int { return 0 }
