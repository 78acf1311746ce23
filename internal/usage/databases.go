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
func readOpenCode(path string, out *sink) error {
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
		for from := int64(0); ; {
			next, err := openCodeBatch(db, table, from, folders, out)
			if err != nil {
				return err
			}
			if next == from {
				break
			}
			from = next
		}
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

func openCodeBatch(db *sql.DB, table string, from int64, folders map[string]string, out *sink) (int64, error) {
	rows, err := db.Query("SELECT rowid, session_id, data FROM "+table+" WHERE rowid > ? ORDER BY rowid LIMIT ?",
		from, batchRows)
	if err != nil {
		return from, err
	}
	defer rows.Close()
	for rows.Next() {
		var session string
		var data []byte
		if err := rows.Scan(&from, &session, &data); err != nil {
			return from, err
		}
		used := jsontext.Get(data, "tokens")
		completed := jsontext.Get(data, "time", "completed")
		if string(jsontext.Get(data, "role")) != `"assistant"` && string(jsontext.Get(data, "type")) != `"assistant"` ||
			len(used) == 0 || used[0] != '{' || completed == nil {
			continue
		}
		created := jsontext.Get(data, "time", "created")
		model := text(jsontext.Get(data, "modelID"))
		if model == "" {
			model = text(jsontext.Get(data, "model", "id"))
		}
		project := text(jsontext.Get(data, "path", "cwd"))
		if project == "" {
			project = folders[session]
		}
		out.add(Call{
			ID: fmt.Sprintf("%s-%s-%s", created, completed, model), Model: model, Session: session, Project: project,
			At: moment(created), Cost: dollars(jsontext.Get(data, "cost")),
			Tokens: Tokens{
				Input:      count(jsontext.Get(used, "input")),
				Output:     count(jsontext.Get(used, "output")) + count(jsontext.Get(used, "reasoning")),
				CacheRead:  count(jsontext.Get(used, "cache", "read")),
				CacheWrite: count(jsontext.Get(used, "cache", "write")),
			},
		})
	}
	return from, rows.Err()
}

// readGoose reads the totals of Goose's sessions.
func readGoose(path string, out *sink) error {
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
