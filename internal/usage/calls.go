package usage

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A call is a row with a number for its key and almost everything else in one value: a
// history has hundreds of thousands of them, and writing columns would take most of the
// time of an import. Its agent, session, project and model are a row of their own, which
// many calls share.

// spot is shared by calls.
type spot struct{ agent, session, project, model string }

func spotOf(c *Call) spot { return spot{c.Agent, c.Session, c.Project, c.Model} }

// spots are the rows of places, in memory. They are safe for concurrent use.
type spots struct {
	mu      sync.Mutex
	numbers map[spot]int64
	byID    map[int64]spot
	last    int64
}

func (s *spots) load(db *sql.DB) error {
	rows, err := db.Query("SELECT id, agent, session, project, model FROM places")
	if err != nil {
		return err
	}
	defer rows.Close()
	s.numbers, s.byID, s.last = map[spot]int64{}, map[int64]spot{}, 0
	for rows.Next() {
		var id int64
		var one spot
		if err := rows.Scan(&id, &one.agent, &one.session, &one.project, &one.model); err != nil {
			return err
		}
		s.numbers[one], s.byID[id], s.last = id, one, max(s.last, id)
	}
	return rows.Err()
}

// number returns the number of a spot, and whether it is new.
func (s *spots) number(one spot) (id int64, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.numbers[one]; ok {
		return id, false
	}
	s.last++
	s.numbers[one], s.byID[s.last] = s.last, one
	return s.last, true
}

func (s *spots) get(id int64) spot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// forget forgets spots that weren't written after all.
func (s *spots) forget(ids []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.numbers, s.byID[id])
		delete(s.byID, id)
	}
}

// keySlots is how many calls whose ids have the same hash can be stored: those of one id with
// several requests, and of different ids by chance, or in an attempt to hide a call behind
// another.
const keySlots = 256

// keyBase returns the first key of an id's calls; n is the number of bases of that id that are
// already full.
func keyBase(agent, id string, n int) int64 {
	hash := xxhash.Sum64String(id) ^ xxhash.Sum64String(agent)*31 + uint64(n)*0x9e3779b97f4a7c15
	return int64(hash>>1) &^ (keySlots - 1)
}

// keyOf returns the key of the call that is so many-th of its id.
func keyOf(agent, id string, index int) int64 {
	return keyBase(agent, id, index/keySlots) + int64(index%keySlots)
}

// encode returns a row's content for a call, without its spot and its time.
func encode(dst []byte, c *Call) []byte {
	for _, n := range []int64{c.flags(), c.Tokens.Input, c.Tokens.Output, c.Tokens.CacheRead, c.Tokens.CacheWrite,
		c.Tokens.CacheWrite1h, c.Window} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	if c.Cost > 0 {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.Cost))
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(c.ID))), c.ID...)
	return append(dst, c.Request...)
}

// Flags of a stored call.
const (
	flagFast = 1 << iota
	flagReplay
	flagSum
	flagCost
)

func (c *Call) flags() (flags int64) {
	for _, f := range []struct {
		on  bool
		bit int64
	}{{c.Fast, flagFast}, {c.Replay, flagReplay}, {c.Sum, flagSum}, {c.Cost > 0, flagCost}} {
		if f.on {
			flags |= f.bit
		}
	}
	return flags
}

var errRow = errors.New("a row of the store can't be read")

// decode reads what encode wrote.
func decode(data []byte, at int64, where spot) (c Call, err error) {
	var flags int64
	for _, n := range []*int64{&flags, &c.Tokens.Input, &c.Tokens.Output, &c.Tokens.CacheRead, &c.Tokens.CacheWrite,
		&c.Tokens.CacheWrite1h, &c.Window} {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			return c, errRow
		}
		*n, data = int64(v), data[size:]
	}
	if flags&flagCost != 0 {
		if len(data) < 8 {
			return c, errRow
		}
		c.Cost, data = math.Float64frombits(binary.LittleEndian.Uint64(data)), data[8:]
	}
	length, size := binary.Uvarint(data)
	if size <= 0 || length > uint64(len(data)-size) {
		return c, errRow
	}
	c.ID, c.Request = string(data[size:size+int(length)]), string(data[size+int(length):])
	c.Agent, c.Session, c.Project, c.Model = where.agent, where.session, where.project, where.model
	c.At, c.Fast, c.Replay, c.Sum = time.UnixMilli(at), flags&flagFast != 0, flags&flagReplay != 0, flags&flagSum != 0
	return c, nil
}

const callColumns = "place, at, data"

func (s *Store) scanCall(rows *sql.Rows) (Call, error) {
	var place, at int64
	var data sql.RawBytes
	if err := rows.Scan(&place, &at, &data); err != nil {
		return Call{}, err
	}
	return decode(data, at, s.spots.get(place))
}

// Each calls f for the calls since a moment.
func (s *Store) Each(ctx context.Context, since time.Time, f func(*Call)) error {
	from := int64(-1 << 62)
	if !since.IsZero() {
		from = since.UnixMilli()
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+callColumns+" FROM calls WHERE at >= ?", from)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := s.scanCall(rows)
		if err != nil {
			return err
		}
		f(&c)
	}
	return rows.Err()
}
