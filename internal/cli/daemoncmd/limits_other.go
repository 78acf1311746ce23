//go:build !unix

package daemoncmd

func checkLimits() error { return nil }
