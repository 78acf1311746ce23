package userfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Problem is something wrong in a file that its owner should know about, with what to do about it.
// Line and Col are 0 for the file as a whole.
type Problem struct {
	File      string
	Line, Col int
	Text      string
}

// String returns the problem as one line, in the form editors jump to.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	case p.Col == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Text)
}

func (p Problem) Error() string { return p.String() }

// Source is a file that is asked for often and changes rarely. It is not safe
// for concurrent use.
type Source struct {
	Path  string
	Limit int64

	read bool
	data []byte
	err  error
	info fs.FileInfo // as it was when read; nil if there was none
	at   time.Time   // when it was read
}

// trustedAge is how old a file must be before its time stamp can be trusted to distinguish a
// second change from the first; a younger one is read again.
const trustedAge = 50 * time.Millisecond

// Read returns the file's bytes and whether they, or the error, are new since the last call. It
// costs one stat if nothing changed. No file is no error: data is nil then.
func (s *Source) Read() (data []byte, changed bool, err error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return s.keep(nil, nil, err)
	}
	if s.read && s.err == nil && SameStamp(info, s.info) && s.at.Sub(info.ModTime()).Abs() > trustedAge {
		return s.data, false, nil
	}
	limit := s.Limit
	if limit == 0 {
		limit = MaxFile
	}
	s.at = time.Now()
	data, info, err = readFile(s.Path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if data == nil && info != nil {
		data = []byte{}
	}
	return s.keep(data, info, err)
}

func (s *Source) keep(data []byte, info fs.FileInfo, err error) ([]byte, bool, error) {
	changed := !s.read || (data == nil) != (s.data == nil) || !bytes.Equal(data, s.data) || textOf(err) != textOf(s.err)
	if !changed {
		data = s.data
	}
	s.read, s.data, s.info, s.err = true, data, info, err
	return data, changed, err
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// SameStamp reports whether a file is unchanged, as far as stat shows: the file itself, its
// size, and when it was changed, which touch can't set back.
func SameStamp(a, b fs.FileInfo) bool {
	return a != nil && b != nil && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode() &&
		os.SameFile(a, b) && files.ChangedAt(a) == files.ChangedAt(b)
}
