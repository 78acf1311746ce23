package journal

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrNewer says that a newer hookmux wrote the file.
var ErrNewer = errors.New("journal: written by a newer hookmux")

// errForeign says that the file is a database, but not a journal.
var errForeign = errors.New("a database, but not a hookmux journal")

// errNotOpen says that an earlier failure left no connection; the next write
// tries again.
var errNotOpen = errors.New("not open")

// migrations lead from each schema to the next; PRAGMA user_version counts
// them. Released ones are never changed and there is no way back.
var migrations = []string{
	// 1. An event is one short row, which pays: it costs 4.5 µs of CPU and 1,017
	// bytes, payload of 760 included, and the same events in one plain table through
	// database/sql cost 18.7 µs and 1,256 bytes (BenchmarkWrite, batches of 128, and
	// BenchmarkPlainTable). What repeats from event to event is stored
	// once in shapes (what happened) and origins (where), which the writer
	// keeps in memory; rows there may repeat each other, readers don't mind.
	// The only index on events is the one that makes ids unique: each further
	// one costs a third of the whole write. blocks replaces an index on
	// time: it says from when to when about a thousand neighbours are.
	// origins.first and last bound where a session's events are; last may lag
	// behind within the newest, not yet blocked events.
	`CREATE TABLE events(
		cursor INTEGER PRIMARY KEY,
		id     TEXT NOT NULL UNIQUE,
		time   INTEGER NOT NULL,
		shape  INTEGER NOT NULL,
		origin INTEGER NOT NULL,
		flags  INTEGER NOT NULL,
		body   BLOB
	);
	CREATE TABLE shapes(
		shape  INTEGER PRIMARY KEY,
		agent  TEXT NOT NULL,
		kind   TEXT NOT NULL,
		native TEXT NOT NULL,
		tool   TEXT NOT NULL
	);
	CREATE TABLE origins(
		origin  INTEGER PRIMARY KEY,
		first   INTEGER NOT NULL,
		last    INTEGER NOT NULL,
		session TEXT NOT NULL,
		cwd     TEXT NOT NULL,
		version TEXT NOT NULL,
		caller  TEXT NOT NULL,
		host    TEXT NOT NULL,
		pane    TEXT NOT NULL,
		tty     TEXT NOT NULL,
		pid     INTEGER NOT NULL,
		start   INTEGER NOT NULL
	);
	CREATE INDEX origins_session ON origins(session);
	CREATE TABLE outcomes(
		id       TEXT PRIMARY KEY,
		time     INTEGER NOT NULL,
		took     INTEGER NOT NULL,
		verdict  TEXT NOT NULL,
		by       TEXT NOT NULL,
		degraded INTEGER NOT NULL,
		decision BLOB,
		steps    BLOB,
		answer   BLOB
	) WITHOUT ROWID;
	CREATE TABLE blocks(
		last  INTEGER PRIMARY KEY,
		first INTEGER NOT NULL,
		low   INTEGER NOT NULL,
		high  INTEGER NOT NULL
	);
	CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
	CREATE VIEW log AS
		SELECT e.cursor, e.id, strftime('%Y-%m-%dT%H:%M:%fZ', e.time/1e6, 'unixepoch') AS time,
			s.agent, s.kind, s.native, s.tool, o.session, o.cwd, r.verdict, r.by, r.took, CAST(e.body AS TEXT) AS body
		FROM events e
		LEFT JOIN shapes s ON s.shape = e.shape
		LEFT JOIN origins o ON o.origin = e.origin
		LEFT JOIN outcomes r ON r.id = e.id`,
	// 2. What a fleet doesn't have yet; see outbox.go. Empty without one.
	`CREATE TABLE outbox(seq INTEGER PRIMARY KEY, id TEXT NOT NULL)`,
}

// newFilePragmas only count while the file is new, before the log is switched
// on.
var newFilePragmas = []string{
	"page_size = 4096",
	"auto_vacuum = INCREMENTAL",
}

// pragmas of the writing connection.
var pragmas = []string{
	"journal_mode = WAL",
	"synchronous = NORMAL",          // a commit is one write; only carrying over syncs
	"wal_autocheckpoint = 4000",     // 16 MB: rewritten pages are carried over once
	"journal_size_limit = 67108864", // a log grown by a slow reader shrinks again
	"cache_size = -4000",
	"temp_store = MEMORY",
}

// largePragmas follow them in a journal that is [Options.Large]: the ids of many machines' events
// are all over the index, and one transaction has thousands.
var largePragmas = []string{
	"wal_autocheckpoint = 16000", // 64 MB
	"journal_size_limit = 134217728",
	"cache_size = -32000",
}

const (
	flagNested    = 1
	flagTruncated = 2
)

// setUp sets the connection up and brings the schema to the newest version.
func (c *rawConn) setUp() error {
	if err := c.execQuery("PRAGMA busy_timeout = 5000"); err != nil {
		return err
	}
	// Whose file it is comes first: another's is not to be touched.
	version, err := c.queryNumber("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version > int64(len(migrations)) {
		return fmt.Errorf("%w (schema %d, this one knows %d); upgrade hookmux or move the file away", ErrNewer, version,
			len(migrations))
	}
	if version == 0 {
		tables, err := c.queryNumber("SELECT count(*) FROM sqlite_schema")
		if err != nil {
			return err
		}
		if tables > 0 {
			return errForeign
		}
		if err := c.execAll(newFilePragmas); err != nil {
			return err
		}
	}
	if err := c.execAll(pragmas); err != nil {
		return err
	}
	// IMMEDIATE even with nothing to do: a file that cannot be written shall
	// say so now, not at the first event.
	if err := c.execQuery("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for ; version < int64(len(migrations)); version++ {
		if err := c.execQuery(migrations[version]); err != nil {
			c.execQuery("ROLLBACK")
			return err
		}
	}
	if err := c.execQuery("PRAGMA user_version = " + strconv.FormatInt(version, 10)); err != nil {
		c.execQuery("ROLLBACK")
		return err
	}
	return c.execQuery("COMMIT")
}

func (c *rawConn) execAll(pragmas []string) error {
	for _, p := range pragmas {
		if err := c.execQuery("PRAGMA " + p); err != nil {
			return err
		}
	}
	return nil
}
