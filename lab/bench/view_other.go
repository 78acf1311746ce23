//go:build unix && !linux

package main

import (
	"context"
	"fmt"
	"os"
)

// view needs a terminal, which is opened in Linux's way here.
func (b *bench) view(context.Context) error {
	fmt.Fprintln(os.Stderr, "bench: view is measured on Linux only")
	return nil
}
