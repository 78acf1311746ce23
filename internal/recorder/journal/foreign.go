package journal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errAltered says that a table or index of the journal isn't as hookmux makes it.
var errAltered = errors.New("something changed the tables of the journal")

// object is a row of SQLite's own table of what a file holds.
type object struct{ kind, name, sql string }

func (c *rawConn) objects() (list []object, err error) {
	err = c.eachRow("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name", func(v []driver.Value) {
		list = append(list, object{textValue(v[0]), textValue(v[1]), textValue(v[2])})
	})
	return list, err
}

// ownObjects returns what the migrations make.
func ownObjects(d driver.Driver) ([]object, error) {
	conn, err := d.Open(":memory:")
	if err != nil {
		return nil, err
	}
	c := rawConn{conn}
	defer func() { _ = c.close() }() // nothing is in it
	for _, m := range migrations {
		if err := c.execQuery(m); err != nil {
			return nil, err
		}
	}
	return c.objects()
}

// removeForeign removes what isn't hookmux's: any program of the user's can put a trigger
// into the file that deletes events as they're stored, or a unique index that has them
// ignored. Inside a transaction no other program can add one, and the file's schema_version
// shows that none did since the last look.
func (w *writer) removeForeign() error {
	version, err := w.queryNumber("PRAGMA schema_version")
	if err != nil || version == w.schemaVersion {
		return err
	}
	found, err := w.objects()
	if err != nil {
		return err
	}
	kept := 0
	for _, o := range found {
		switch {
		case slices.Contains(w.own, o):
			kept++
		case slices.ContainsFunc(w.own, func(own object) bool { return own.name == o.name }):
			return errAltered
		case strings.HasPrefix(o.name, "sqlite_"):
			// SQLite's own, such as the index of a foreign table.
		default:
			drop := fmt.Sprintf(`DROP %s IF EXISTS "%s"`, strings.ToUpper(o.kind), strings.ReplaceAll(o.name, `"`, `""`))
			if err := w.execQuery(drop); err != nil {
				return err
			}
			w.removed = append(w.removed, o.kind+" "+o.name)
		}
	}
	if kept != len(w.own) {
		return errAltered
	}
	w.schemaVersion, err = w.queryNumber("PRAGMA schema_version")
	return err
}

// changeSchema removes it where no statement was prepared yet.
func (w *writer) changeSchema() error {
	if err := w.execQuery("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := w.removeForeign(); err != nil {
		w.execQuery("ROLLBACK")
		return err
	}
	return w.execQuery("COMMIT")
}

// noteForeign reports what the writer removed.
func (j *Journal) noteForeign() {
	w := j.writer
	if w == nil || len(w.removed) == 0 {
		return
	}
	j.health.Lock()
	j.lasting = append(j.lasting, Problem{j.opts.Now(), fmt.Sprintf(
		"%s: another program had added %q, which can remove events; hookmux took it out, but events from before may be missing",
		j.path, w.removed)})
	j.health.Unlock()
	w.removed = nil
}
