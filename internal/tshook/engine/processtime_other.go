//go:build !unix

package engine

import "time"

// processTime returns the clock if there is nothing better.
func processTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
