//go:build !unix

package engine

import "time"

// processTime returns the clock where nothing better is known.
func processTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
