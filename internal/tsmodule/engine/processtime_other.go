//go:build !unix

package module

import "time"

// processTime is the clock where nothing better is known.
func processTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
