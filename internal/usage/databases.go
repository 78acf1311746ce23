package usage

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// rowsRead is how far each table of a database has been read: up to its last row that
// won't change any more. Rows that changed all the same are read with the next look at
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
	rows, err := db.Query("SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names[name] = true
	}
	return names, rows.Err()
}

// readOpenCode reads the messages of OpenCode 1 and Kilo, and those of OpenCode 2. A
// fork copies messages and gives them new ids; when an answer began and ended stays
// the same.
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
		at := openCodeTable{db: db, name: table, from: read[table], folders: folders}
		for more := true; more; {
			if more, err = at.batch(out); err != nil {
				return err
			}
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
		rows, err := db.Query("SELECT id, directory FROM " + table)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id, folder string
			if rows.Scan(&id, &folder) == nil {
				folders[id] = folder
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return folders, nil
}

// openCodeTable is a table while it's read.
type openCodeTable struct {
	db      *sql.DB
	name    string
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

// batch reads some rows, and reports whether there were any.
func (t *openCodeTable) batch(out *sink) (more bool, err error) {
	rows, err := t.db.Query("SELECT rowid, session_id, data FROM "+t.name+" WHERE rowid > ? ORDER BY rowid LIMIT ?",
		t.from, batchRows)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var session string
		var data []byte
		if err := rows.Scan(&t.from, &session, &data); err != nil {
			return false, err
		}
		more = true
		used := jsontext.Get(data, "tokens")
		completed := jsontext.Get(data, "time", "completed")
		if !says(jsontext.Get(data, "role"), "assistant") && !says(jsontext.Get(data, "type"), "assistant") {
			continue
		}
		if len(used) == 0 || used[0] != '{' || completed == nil {
			t.open = append(t.open, t.from)
			continue
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
	}
	return more, rows.Err()
}

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
