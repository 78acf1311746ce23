//go:build !linux

package main

import (
	"io"
	"time"
)

// untilRead gives the reader of the streams a moment: how much of them was taken can't be
// asked here.
func untilRead(...io.Writer) { time.Sleep(20 * time.Millisecond) }
