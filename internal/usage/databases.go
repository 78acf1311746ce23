package usage

import (
	"cmp"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// rowsRead is how far each table of a database has been read: up to its last row that
// won't change any more. Rows that do change are read with the next look at
// everything.
type rowsRead map[string]int64

// batchRows is how many rows are read of an agent's database at once: between batches
// nothing of it is held.
const batchRows = 500

// openReadOnly opens another program's database. It never waits for it, and never
// writes.
func openReadOnly(path string) (*sql.DB, error) {
	q := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(0)", "mmap_size(0)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func columnsOf(db *sql.DB, table string) (map[string]bool, error) {
	names := map[string]bool{}
	return names, eachRowOf(db, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names[name] = true
		return err
	}, "SELECT name FROM pragma_table_info(?)", table)
}

// eachRow calls row for each row of a query, which sets from: the query continues after it with the
// next batch.
func eachRow(db *sql.DB, query string, from *int64, row func(*sql.Rows) error) error {
	for last := *from - 1; last != *from; {
		last = *from
		if err := eachRowOf(db, row, query, *from, batchRows); err != nil {
			return err
		}
	}
	return nil
}

// eachRowOf calls row for each row of a query.
func eachRowOf(db *sql.DB, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readOpenCode reads the messages of OpenCode 1 and Kilo, and those of OpenCode 2. A fork copies
// messages and gives them new ids; the times when an answer began and ended stay the same.
func readOpenCode(path string, read rowsRead, out *sink) error {
	db, err := openReadOnly(path)
	if err != nil {
		return err
	}
	defer db.Close()
	folders, err := openCodeFolders(db)
	if err != nil {
		return err
	}
	for _, table := range []string{"message", "session_message"} {
		columns, err := columnsOf(db, table)
		if err != nil {
			return err
		}
		if !columns["data"] || !columns["session_id"] {
			continue
		}
		at := openCodeTable{from: read[table], folders: folders}
		if err := eachRow(db, "SELECT rowid, session_id, data FROM "+table+" WHERE rowid > ? ORDER BY rowid LIMIT ?", &at.from,
			func(rows *sql.Rows) error { return at.row(rows, out) }); err != nil {
			return err
		}
		read[table] = at.final()
	}
	return nil
}

func openCodeFolders(db *sql.DB) (map[string]string, error) {
	folders := map[string]string{}
	for _, table := range []string{"session", "session_v2"} {
		columns, err := columnsOf(db, table)
		if err != nil {
			return nil, err
		}
		if !columns["directory"] {
			continue
		}
		if err := eachRowOf(db, func(rows *sql.Rows) error {
			var id, folder string
			if rows.Scan(&id, &folder) == nil {
				folders[id] = folder
			}
			return nil
		}, "SELECT id, directory FROM "+table); err != nil {
			return nil, err
		}
	}
	return folders, nil
}

// openCodeTable is a table while it's read.
type openCodeTable struct {
	from    int64
	folders map[string]string
	open    []int64 // answers that aren't complete
}

// maxOpen is how many of the last answers may be completed later.
const maxOpen = 100

// final returns the row up to which nothing changes any more.
func (t *openCodeTable) final() int64 {
	if open := t.open[max(0, len(t.open)-maxOpen):]; len(open) > 0 {
		return open[0] - 1
	}
	return t.from
}

// row reads a row.
func (t *openCodeTable) row(rows *sql.Rows, out *sink) error {
	var session string
	var data []byte
	if err := rows.Scan(&t.from, &session, &data); err != nil {
		return err
	}
	used := jsontext.Get(data, "tokens")
	completed := jsontext.Get(data, "time", "completed")
	if !says(jsontext.Get(data, "role"), "assistant") && !says(jsontext.Get(data, "type"), "assistant") {
		return nil
	}
	if len(used) == 0 || used[0] != '{' || completed == nil {
		t.open = append(t.open, t.from)
		return nil
	}
	created := jsontext.Get(data, "time", "created")
	model := text(jsontext.Get(data, "modelID"))
	if model == "" {
		model = text(jsontext.Get(data, "model", "id"))
	}
	project := text(jsontext.Get(data, "path", "cwd"))
	if project == "" {
		project = t.folders[session]
	}
	out.add(Call{
		ID: fmt.Sprintf("%s-%s-%s", created, completed, model), Model: model, Session: session, Project: project,
		At: moment(created), Cost: dollars(jsontext.Get(data, "cost")),
		Tokens: Tokens{
			Input:      out.count(jsontext.Get(used, "input")),
			Output:     out.count(jsontext.Get(used, "output")) + out.count(jsontext.Get(used, "reasoning")),
			CacheRead:  out.count(jsontext.Get(used, "cache", "read")),
			CacheWrite: out.count(jsontext.Get(used, "cache", "write")),
		},
	})
	if out.odd {
		out.odd = false
		out.doubt(session, project, unreadable, moment(created))
	}
	return nil
}

// readOpenClaw reads the rows that OpenClaw's files had before it had a database; some are
// compressed. Hooks name a session by its key, which stays when the session is begun again.
func readOpenClaw(path string, read rowsRead, out *sink) error {
	db, err := openReadOnly(path)
	if err != nil {
		return err
	}
	defer db.Close()
	const name = "transcript_events"
	columns, err := columnsOf(db, name)
	if err != nil || !columns["event_json"] || !columns["session_id"] {
		return err
	}
	folders, err := openClawFolders(db)
	if err != nil {
		return err
	}
	windows, err := columnsOf(db, "session_windows")
	if err != nil {
		return err
	}
	packed, key, join := "NULL", "''", ""
	if columns["event_zstd"] {
		packed = "e.event_zstd"
	}
	if windows["session_key"] {
		key, join = "coalesce(w.session_key, '')", " LEFT JOIN session_windows w ON w.session_id = e.session_id"
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxLine))
	if err != nil {
		return err
	}
	defer unpack.Close()
	at := openClawTable{folders: folders, unpack: unpack, from: read[name]}
	if err := eachRow(db, "SELECT e.rowid, e.session_id, "+key+", e.event_json, "+packed+" FROM "+name+" e"+join+
		" WHERE e.rowid > ? ORDER BY e.rowid LIMIT ?", &at.from, func(rows *sql.Rows) error { return at.row(rows, out) }); err != nil {
		return err
	}
	read[name] = at.from
	return nil
}

// openClawFolders returns where sessions work: their first rows say it.
func openClawFolders(db *sql.DB) (map[string]string, error) {
	folders := map[string]string{}
	return folders, eachRowOf(db, func(rows *sql.Rows) error {
		var id string
		var row []byte
		if rows.Scan(&id, &row) == nil {
			folders[id] = text(jsontext.Get(row, "cwd"))
		}
		return nil
	}, "SELECT session_id, event_json FROM transcript_events WHERE seq = 0 AND event_json IS NOT NULL")
}

// openClawTable is a table while it's read.
type openClawTable struct {
	from    int64
	folders map[string]string
	unpack  *zstd.Decoder
}

// row reads a row.
func (t *openClawTable) row(rows *sql.Rows, out *sink) error {
	var id, key string
	var row, packed []byte
	if err := rows.Scan(&t.from, &id, &key, &row, &packed); err != nil {
		return err
	}
	s := fileState{Session: cmp.Or(key, id), Project: t.folders[id]}
	var broken error
	if row == nil {
		row, broken = t.unpack.DecodeAll(packed, nil)
	}
	if broken != nil || !openClawRow(&s, row, 0, out) || out.odd {
		out.odd = false
		out.doubt(s.Session, s.Project, unreadable, time.Now())
	}
	return nil
}

var openClawRow = rowsOf(nil, piCalls)

// readGoose reads the totals of Goose's sessions.
func readGoose(path string, _ rowsRead, out *sink) error {
	db, err := openReadOnly(path)
	if err != nil {
		return err
	}
	defer db.Close()
	columns, err := columnsOf(db, "sessions")
	if err != nil || !columns["accumulated_input_tokens"] {
		return err
	}
	column := func(name, other string) string {
		if columns[name] {
			return "coalesce(" + name + ", " + other + ")"
		}
		return other
	}
	rows, err := db.Query("SELECT id, " + strings.Join([]string{
		column("working_dir", "''"), column("model_config_json", "''"), column("updated_at", "''"),
		column("accumulated_input_tokens", "0"), column("accumulated_output_tokens", "0"),
		column("accumulated_cache_read_tokens", "0"), column("accumulated_cache_write_tokens", "0"),
		column("accumulated_cost", "0"),
	}, ", ") + " FROM sessions")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, folder, model, updated string
		var t Tokens
		var cost float64
		if err := rows.Scan(&id, &folder, &model, &updated, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite,
			&cost); err != nil {
			return err
		}
		at, _ := time.Parse(time.DateTime, updated)
		t.CacheRead = min(t.CacheRead, t.Input)
		t.CacheWrite = min(t.CacheWrite, t.Input-t.CacheRead)
		t.Input -= t.CacheRead + t.CacheWrite
		out.add(Call{
			ID: id, Session: id, Project: folder, Model: text(jsontext.Get([]byte(model), "model_name")), At: at, Tokens: t,
			Cost: cost, Sum: true,
		})
	}
	return rows.Err()
}
