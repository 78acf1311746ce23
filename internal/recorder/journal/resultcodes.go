package journal

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// resultCode is SQLite's primary result code in err, 0 when there is none.
func resultCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// isBroken reports whether err means that the file itself cannot be used any
// more, as opposed to not now.
func isBroken(err error) bool {
	return resultCode(err) == sqlite3.SQLITE_CORRUPT || resultCode(err) == sqlite3.SQLITE_NOTADB ||
		errors.Is(err, errForeign) || errors.Is(err, errAltered) || errors.Is(err, errContradicts)
}

// errContradicts says that an event was not taken in as one that is there already, and
// is not there: part of the file is lost, and SQLite has not noticed.
var errContradicts = errors.New("it has no event that it refuses to take in again")

func isFull(err error) bool { return resultCode(err) == sqlite3.SQLITE_FULL }
