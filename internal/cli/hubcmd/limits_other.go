//go:build !unix

package hubcmd

func checkLimits() error { return nil }
