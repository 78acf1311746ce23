//go:build !linux

// Chaos runs on Linux only.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos runs on Linux only")
	os.Exit(2)
}
