package server

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// postgres is the central journal in PostgreSQL, in its own schema.
type postgres struct {
	pool   *pgxpool.Pool
	schema string
}

// schemaSQL creates the tables. Ids are compared byte by byte, as SQLite does.
const schemaSQL = `CREATE SCHEMA IF NOT EXISTS %[1]s;
CREATE TABLE IF NOT EXISTS %[1]s.events (
	cursor bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, time timestamptz NOT NULL,
	agent text NOT NULL, kind text NOT NULL, native text NOT NULL, tool text NOT NULL, session text NOT NULL, cwd text NOT NULL,
	version text NOT NULL, caller text NOT NULL, host text NOT NULL, nested boolean NOT NULL, truncated boolean NOT NULL, body bytea);
CREATE TABLE IF NOT EXISTS %[1]s.outcomes (
	id text COLLATE "C" PRIMARY KEY, time timestamptz NOT NULL, took bigint NOT NULL, verdict text NOT NULL, by text NOT NULL,
	degraded boolean NOT NULL, decision bytea);
CREATE INDEX IF NOT EXISTS events_time ON %[1]s.events (time);
CREATE INDEX IF NOT EXISTS events_session ON %[1]s.events (session);`

// openPostgres connects, and creates the tables if they don't exist.
func openPostgres(ctx context.Context, file, schema string) (*postgres, error) {
	p, err := connectPostgres(ctx, file, schema)
	if err != nil {
		return nil, err
	}
	if _, err := p.pool.Exec(ctx, fmt.Sprintf(schemaSQL, p.schema), pgx.QueryExecModeSimpleProtocol); err != nil {
		p.pool.Close()
		return nil, fmt.Errorf("PostgreSQL: %w", err)
	}
	return p, nil
}

// connectPostgres connects with the URL in a file, so that no list of processes shows a password.
func connectPostgres(ctx context.Context, file, schema string) (*postgres, error) {
	url, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(strings.TrimSpace(string(url)))
	if err != nil {
		return nil, fmt.Errorf("%s doesn't contain a PostgreSQL URL, like postgres://user:password@host/database", file)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &postgres{pool: pool, schema: pgx.Identifier{schema}.Sanitize()}, nil
}

// writeWithin limits how long one batch may take.
const writeWithin = 30 * time.Second

// Write implements [store].
func (p *postgres) Write(items []journal.Item) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	var e eventColumns
	var o outcomeColumns
	for i := range items {
		if items[i].Row != nil {
			e.add(items[i].Row)
		}
		if items[i].Outcome != nil {
			o.add(items[i].Outcome)
		}
	}
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if len(e.id) > 0 {
			if _, err := tx.Exec(ctx, `INSERT INTO `+p.schema+`.events (id, time, agent, kind, native, tool, session, cwd, version, caller,
				host, nested, truncated, body) SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
				$6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::boolean[], $13::boolean[], $14::bytea[])
				ON CONFLICT (id) DO NOTHING`, e.id, e.time, e.agent, e.kind, e.native, e.tool, e.session, e.cwd, e.version, e.caller,
				e.host, e.nested, e.truncated, e.body); err != nil {
				return err
			}
		}
		if len(o.id) == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, `INSERT INTO `+p.schema+`.outcomes (id, time, took, verdict, by, degraded, decision)
			SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::bytea[])
			ON CONFLICT (id) DO UPDATE SET time = excluded.time, took = excluded.took, verdict = excluded.verdict, by = excluded.by,
			degraded = excluded.degraded, decision = excluded.decision`, o.id, o.time, o.took, o.verdict, o.by, o.degraded, o.decision)
		return err
	})
}

// eventColumns are events as arrays, which PostgreSQL reads faster than rows.
type eventColumns struct {
	id, agent, kind, native, tool, session, cwd, version, caller, host []string
	time                                                               []time.Time
	nested, truncated                                                  []bool
	body                                                               [][]byte
}

func (c *eventColumns) add(r *journal.Row) {
	c.id, c.time = append(c.id, r.ID), append(c.time, r.Time)
	c.agent, c.kind, c.native = append(c.agent, r.Agent), append(c.kind, r.Kind), append(c.native, r.Native)
	c.tool, c.session, c.cwd = append(c.tool, r.Tool), append(c.session, r.Session), append(c.cwd, r.Cwd)
	c.version, c.caller, c.host = append(c.version, r.AgentVersion), append(c.caller, r.Caller), append(c.host, r.Host)
	c.nested, c.truncated, c.body = append(c.nested, r.Nested), append(c.truncated, r.Truncated), append(c.body, r.Body)
}

type outcomeColumns struct {
	at              map[string]int
	id, verdict, by []string
	time            []time.Time
	took            []int64
	degraded        []bool
	decision        [][]byte
}

// add replaces an earlier outcome of the same event: one statement writes a row once.
func (c *outcomeColumns) add(o *journal.Outcome) {
	if c.at == nil {
		c.at = map[string]int{}
	}
	i, known := c.at[o.ID]
	if !known {
		i = len(c.id)
		c.at[o.ID] = i
		c.id, c.verdict, c.by = append(c.id, o.ID), append(c.verdict, ""), append(c.by, "")
		c.time, c.took = append(c.time, time.Time{}), append(c.took, 0)
		c.degraded, c.decision = append(c.degraded, false), append(c.decision, nil)
	}
	c.verdict[i], c.by[i], c.time[i], c.took[i] = o.Verdict, o.By, o.Time, o.Took.Microseconds()
	c.degraded[i], c.decision[i] = o.Degraded, o.Decision
}

// postgresWhere returns a filter's conditions, with those of [journal.Filter].
func postgresWhere(f *journal.Filter) (string, []any) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		where = append(where, condition)
	}
	if f.After != 0 {
		add("e.cursor > ?", f.After)
	}
	if f.Before != 0 {
		add("e.cursor < ?", f.Before)
	}
	if !f.Since.IsZero() {
		add("e.time >= ?", f.Since)
	}
	if !f.Until.IsZero() {
		add("e.time <= ?", f.Until)
	}
	for _, list := range []struct {
		column string
		values []string
	}{{"agent", f.Agents}, {"kind", f.Kinds}, {"native", f.Natives}, {"tool", f.Tools}} {
		if len(list.values) > 0 {
			add("e."+list.column+" = ANY(?)", list.values)
		}
	}
	if len(f.Cursors) > 0 {
		add("e.cursor = ANY(?)", f.Cursors)
	}
	if f.ID != "" {
		add("e.id >= ? AND e.id < ?", f.ID, f.ID+"~")
	}
	if f.Session != "" {
		add("e.session = ?", f.Session)
	}
	if f.Verdict != "" {
		add("coalesce(o.verdict, 'none') = ?", f.Verdict)
	}
	if f.Inbox {
		add(`(position('"inbox":{'::bytea in coalesce(o.decision, '')) > 0 OR coalesce(o.by, '') LIKE ?)`,
			strings.ReplaceAll(event.ByPermission("*"), "*", "%"))
	}
	if f.LogOnly {
		add(`position('"would":{'::bytea in coalesce(o.decision, '')) > 0`)
	}
	if where == nil {
		return "true", nil
	}
	return strings.Join(where, " AND "), args
}

// Query implements [store].
func (p *postgres) Query(ctx context.Context, f journal.Filter) iter.Seq2[journal.Stored, error] {
	return func(yield func(journal.Stored, error) bool) {
		where, args := postgresWhere(&f)
		query := `SELECT e.cursor, e.id, e.time, e.agent, e.kind, e.native, e.tool, e.session, e.cwd, e.version, e.caller, e.host,
			e.nested, e.truncated, e.body, o.id, o.time, o.took, o.verdict, o.by, o.degraded, o.decision
			FROM ` + p.schema + `.events e LEFT JOIN ` + p.schema + `.outcomes o ON o.id = e.id WHERE ` + where + ` ORDER BY e.cursor`
		if f.Newest {
			query += " DESC"
		}
		if f.Limit > 0 {
			query += " LIMIT " + strconv.Itoa(f.Limit)
		}
		rows, err := p.pool.Query(ctx, query, args...)
		if err != nil {
			yield(journal.Stored{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			one, err := readStored(rows)
			if !yield(one, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(journal.Stored{}, err)
		}
	}
}

func readStored(rows pgx.Rows) (s journal.Stored, err error) {
	var id, verdict, by *string
	var at *time.Time
	var took *int64
	var degraded *bool
	var decision []byte
	if err = rows.Scan(&s.Cursor, &s.ID, &s.Time, &s.Agent, &s.Kind, &s.Native, &s.Tool, &s.Session, &s.Cwd, &s.AgentVersion,
		&s.Caller, &s.Host, &s.Nested, &s.Truncated, &s.Body, &id, &at, &took, &verdict, &by, &degraded, &decision); err != nil {
		return s, err
	}
	s.Time = s.Time.UTC()
	if id != nil {
		s.Outcome = &journal.Outcome{ID: *id, Time: at.UTC(), Took: time.Duration(*took) * time.Microsecond, Verdict: *verdict, By: *by,
			Degraded: *degraded, Decision: decision}
	}
	return s, nil
}

// Retain implements [store].
func (p *postgres) Retain(now time.Time, keep time.Duration, maxBytes int64) (crowders []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if keep > 0 {
		if err := p.drop(ctx, "time < $1", now.Add(-keep)); err != nil {
			return nil, err
		}
	}
	var size int64
	if err := p.pool.QueryRow(ctx, "SELECT pg_total_relation_size($1) + pg_total_relation_size($2)", p.schema+".events",
		p.schema+".outcomes").Scan(&size); err != nil || maxBytes <= 0 || size <= maxBytes {
		return nil, err
	}
	// PostgreSQL keeps freed space for itself, so what matters is how much the rows take up.
	bytes, rows, err := p.usedBy(ctx)
	if err != nil {
		return nil, err
	}
	var total, all int64
	for member, n := range bytes {
		total, all = total+n, all+rows[member]
	}
	if total <= maxBytes {
		return nil, nil
	}
	surplus := float64(total - (maxBytes - maxBytes/16))
	crowders, beyond := journal.Crowders(bytes)
	for _, member := range crowders {
		share := float64(bytes[member]) / float64(total)
		drop := min(surplus, float64(total)*beyond*share) / float64(bytes[member])
		if err := p.drop(ctx, "cursor IN (SELECT cursor FROM "+p.schema+".events WHERE split_part(id, '"+protocol.IDMark+"', 1) = $1 "+
			"ORDER BY cursor LIMIT $2)", member, int64(drop*float64(rows[member]))); err != nil {
			return nil, err
		}
		surplus -= drop * float64(bytes[member])
	}
	if surplus < 1 {
		return crowders, nil
	}
	return crowders, p.drop(ctx, "cursor IN (SELECT cursor FROM "+p.schema+".events ORDER BY cursor LIMIT $1)",
		int64(surplus/float64(total)*float64(all)))
}

// usedBy returns how many bytes and rows each member has.
func (p *postgres) usedBy(ctx context.Context) (bytes, rows map[string]int64, err error) {
	bytes, rows = map[string]int64{}, map[string]int64{}
	list, err := p.pool.Query(ctx, "SELECT split_part(id, '"+protocol.IDMark+"', 1), sum(coalesce(octet_length(body), 0) + 250), count(*) FROM "+
		p.schema+".events GROUP BY 1")
	if err != nil {
		return nil, nil, err
	}
	defer list.Close()
	for list.Next() {
		var member string
		var size, count int64
		if err := list.Scan(&member, &size, &count); err != nil {
			return nil, nil, err
		}
		bytes[member], rows[member] = size, count
	}
	return bytes, rows, list.Err()
}

// drop deletes events, and their outcomes.
func (p *postgres) drop(ctx context.Context, where string, args ...any) error {
	_, err := p.pool.Exec(ctx, `WITH gone AS (DELETE FROM `+p.schema+`.events WHERE `+where+` RETURNING id)
		DELETE FROM `+p.schema+`.outcomes WHERE id IN (SELECT id FROM gone)`, args...)
	return err
}

// erase deletes everything.
func (p *postgres) erase(ctx context.Context) error {
	_, err := p.pool.Exec(ctx, "DROP SCHEMA IF EXISTS "+p.schema+" CASCADE")
	return err
}

// Close implements [store].
func (p *postgres) Close() error {
	p.pool.Close()
	return nil
}
