// Package spool keeps records on disk: the daemon's intake, where an event is
// written before it is acknowledged, and the spool, where a hook leaves an
// event while no daemon answers. Both share the format of package
// spoolrecord.
//
// A record is written with one write(2) and without fsync. It survives the
// death of the process that wrote it, kill -9 included, not a power cut. Every
// record carries its length and a checksum, so that a reader recognises a torn
// tail and finds its way again after garbage.
//
// A calling hook's environment never goes to disk: a record has no place for
// it.
package spool

import (
	"errors"
	"hash/crc32"

	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
)

// Record is one entry.
type Record = spoolrecord.Record

// The kinds of records.
const (
	TypeEvent    = spoolrecord.TypeEvent
	TypeDecision = spoolrecord.TypeDecision
)

var errShort = errors.New("spool: record is cut off")

// Append encodes r at the end of dst.
func Append(dst []byte, r *Record) []byte { return spoolrecord.Append(dst, r, crc32.ChecksumIEEE) }
