package audit

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// End is where a trail once ended, kept outside of it.
type End struct {
	Seq  int64
	Hash string
}

// ParseEnd reads SEQ:HASH.
func ParseEnd(text string) (*End, error) {
	number, hash, _ := strings.Cut(text, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if raw, bad := hex.DecodeString(hash); err != nil || seq < 1 || bad != nil || len(raw) != 32 {
		return nil, fmt.Errorf("%q isn't the end of a trail; `hookmux audit verify` prints it, as in 1274:9f2c…", text)
	}
	return &End{seq, strings.ToLower(hash)}, nil
}

// VerifyEnd is [Verify] that also checks that the trail still has an end that was kept
// elsewhere; nil checks nothing more.
func VerifyEnd(dirs paths.Dirs, end *End) (*Report, error) {
	var first int64
	found := ""
	report, err := Verify(dirs, func(r *Record, line string) {
		if first == 0 {
			first = r.Seq
		}
		if end != nil && r.Seq == end.Seq {
			_, found, _ = cutField(line, hashField, 64)
		}
	})
	if err != nil || report.Problem != nil || end == nil || found == end.Hash {
		return report, err
	}
	what := fmt.Sprintf("record %d isn't the one whose hash you kept: the trail was replaced", end.Seq)
	switch {
	case report.Seq < end.Seq:
		what = fmt.Sprintf("the trail ends with record %d, and you kept the hash of record %d: its end, or all of it, was replaced",
			report.Seq, end.Seq)
	case found == "" && first > end.Seq:
		what = fmt.Sprintf("record %d was removed with the journal's days, so it can't be compared; the first one left is %d",
			end.Seq, first)
	}
	report.Problem = &Misfit{File: headFile, What: what}
	return report, nil
}
