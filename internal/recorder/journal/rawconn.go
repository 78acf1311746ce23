package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	_ "modernc.org/sqlite" // the driver
)

// rawConn is a connection of the driver without database/sql above it, whose
// pooling and conversions cost more per row than the row itself.
type rawConn struct {
	conn driver.Conn
}

var background = context.Background()

// statement is prepared once and run often; args are reused, and emptied
// after each run so that no payload is kept alive.
type statement struct {
	stmt driver.Stmt
	args []driver.NamedValue
}

func (c *rawConn) prepareStatement(query string, params int) (*statement, error) {
	stmt, err := c.conn.(driver.ConnPrepareContext).PrepareContext(background, query)
	if err != nil {
		return nil, err
	}
	s := &statement{stmt: stmt, args: make([]driver.NamedValue, params)}
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	return s, nil
}

// runStatement executes s with its args unchanged and returns how many rows it changed.
func (s *statement) runStatement() (int64, error) {
	result, err := s.stmt.(driver.StmtExecContext).ExecContext(background, s.args)
	for i := range s.args {
		s.args[i].Value = nil
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func namedValues(values []driver.Value) []driver.NamedValue {
	args := make([]driver.NamedValue, len(values))
	for i, v := range values {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return args
}

func (c *rawConn) execQuery(query string, args ...driver.Value) error {
	_, err := c.execCounting(query, args...)
	return err
}

// execCounting is exec that returns how many rows changed.
func (c *rawConn) execCounting(query string, args ...driver.Value) (int64, error) {
	result, err := c.conn.(driver.ExecerContext).ExecContext(background, query, namedValues(args))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// eachRow calls do with every row of the answer; the values hold only for the
// call.
func (c *rawConn) eachRow(query string, do func([]driver.Value), args ...driver.Value) error {
	rows, err := c.conn.(driver.QueryerContext).QueryContext(background, query, namedValues(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		do(values)
	}
}

// queryNumber returns the one integer query answers with; NULL and no row are 0.
func (c *rawConn) queryNumber(query string, args ...driver.Value) (n int64, err error) {
	err = c.eachRow(query, func(v []driver.Value) { n, _ = v[0].(int64) }, args...)
	return n, err
}

func (c *rawConn) close() error { return c.conn.Close() }
