//go:build !unix

package engine

import "time"

// processTime is the clock where nothing better is known.
func processTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
