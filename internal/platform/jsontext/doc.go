// Package jsontext reads and writes JSON in place, byte by byte: no reflection, no
// copies. The hook client and the hot paths of the daemon use it instead of
// encoding/json.
package jsontext
