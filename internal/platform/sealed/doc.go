// Package sealed keeps files under a seal made with a key that only the user can read, so
// that a file that something else wrote isn't believed but reported. A program of the same
// user that reads the key can still forge them: docs/security.md says so.
//
// What a function here returns without an error is on disk, even after a power cut.
package sealed
