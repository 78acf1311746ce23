// Package bounded provides a map and a buffer that keep only so much.
package bounded
