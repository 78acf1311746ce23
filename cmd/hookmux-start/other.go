//go:build !linux

package main

import "os"

func main() {
	_, _ = os.Stderr.WriteString("hookmux-start: hookmux's system service runs on Linux only\n")
	os.Exit(69)
}
