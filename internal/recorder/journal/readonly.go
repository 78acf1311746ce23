package journal

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// OpenReadOnly opens the journal at path for queries only, as for a program that reads
// while no daemon runs. A journal that doesn't exist is [os.ErrNotExist]; nothing is made
// or moved aside.
func OpenReadOnly(path string) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", sourceName(path, "mode", "ro", "_pragma", "busy_timeout(5000)", "_pragma",
		"query_only(1)"))
	if err != nil {
		return nil, explainAt(path, err)
	}
	db.SetMaxOpenConns(1)
	j := &Journal{path: path, opts: Options{Readers: 1, Now: time.Now}, readers: db}
	if err := j.readNewest(db); err != nil {
		db.Close()
		return nil, explainAt(path, err)
	}
	return j, nil
}

// readNewest checks whose file it is and reads the newest cursor.
func (j *Journal) readNewest(db *sql.DB) error {
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case version == 0:
		return errForeign
	case version > len(migrations):
		return fmt.Errorf("%w (schema %d, this one knows %d); upgrade hookmux", ErrNewer, version, len(migrations))
	case version < len(migrations):
		return fmt.Errorf("schema %d is older than this hookmux's; `hookmux daemon start` updates it", version)
	}
	var newest sql.NullInt64
	if err := db.QueryRow("SELECT max(cursor) FROM events").Scan(&newest); err != nil {
		return err
	}
	j.newest.Store(newest.Int64)
	return nil
}
