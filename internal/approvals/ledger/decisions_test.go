package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/policy"
)

func recordIDs(t *testing.T, b *Decisions) string {
	t.Helper()
	list, err := b.Last(100)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func commitAll(t *testing.T, b *Decisions, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := b.Commit(&Record{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
}

// What a power cut left half written swallows no later record.
func TestDecisionsGoOnAfterHalfALine(t *testing.T) {
	line := `{"id":"whole"}` + "\n"
	for text, want := range map[string]string{
		"": "one two", "\n": "one two", line: "whole one two", line + `{"id":"ha`: "whole one two", "{": "one two",
		`{"id":"unended"}`: "unended one two",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, decisionsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := NewDecisions(dir)
		commitAll(t, b, "one", "two")
		b.Close()
		if got := recordIDs(t, b); got != want {
			t.Errorf("after %q the records are %q, want %q", text, got, want)
		}
	}
}

// A record that has grown too large is begun anew, and the one before is kept.
func TestDecisionsBeginAnew(t *testing.T) {
	probe := NewDecisions(t.TempDir())
	commitAll(t, probe, "one")
	probe.Close()
	info, err := os.Stat(filepath.Join(probe.dir, decisionsFile))
	if err != nil {
		t.Fatal(err)
	}
	for before, want := range map[int64]string{ // bytes in the file, besides the first record
		maxDecisionsFile - info.Size() - 1: "one two", maxDecisionsFile - info.Size(): "one two", maxDecisionsFile - info.Size() + 1: "two",
		maxDecisionsFile + 5: "two",
	} {
		b := NewDecisions(t.TempDir())
		blanks := append(make([]byte, before-1), '\n')
		if err := os.WriteFile(filepath.Join(b.dir, decisionsFile), blanks, 0o600); err != nil {
			t.Fatal(err)
		}
		commitAll(t, b, "one", "two")
		b.Close()
		_, err := os.Stat(filepath.Join(b.dir, olderDecisionsFile))
		if got := recordIDs(t, b); got != want || (err == nil) != (want == "two") {
			t.Errorf("after %d bytes: records %q, an old file is there %v; want %q and %v", before, got, err == nil,
				want, want == "two")
		}
	}
}

// Of a record of any size only the end is read.
func TestDecisionsReadTheEnd(t *testing.T) {
	b := NewDecisions(t.TempDir())
	commitAll(t, b, "first")
	b.Close()
	path := filepath.Join(b.dir, decisionsFile)
	if err := os.Truncate(path, maxRead); err != nil {
		t.Fatal(err)
	}
	if got := recordIDs(t, b); got != "first" {
		t.Errorf("a file of %d bytes: records %q, want first", maxRead, got)
	}
	commitAll(t, b, "last")
	b.Close()
	if got := recordIDs(t, b); got != "last" {
		t.Errorf("a larger file: records %q, want last", got)
	}
}

// Nothing is granted where it cannot be written down.
func TestGrantsOnADiskThatRefuses(t *testing.T) {
	dir := t.TempDir()
	g, err := OpenGrants(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, grantsFile, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Add(grant("one")); err == nil {
		t.Error("a grant that could not be written: got no error, want one")
	}
	if list, _ := g.List(time.Now()); len(list) != 0 {
		t.Errorf("grants in force: got %+v, want none", list)
	}
}

// There are at most maxGrants; whoever wants more is told what to do.
func TestGrantsAreBounded(t *testing.T) {
	dir := t.TempDir()
	var list []policy.Grant
	for i := range maxGrants - 1 {
		one := grant(fmt.Sprint("command", i))
		one.ID = fmt.Sprint("g", i)
		list = append(list, one)
	}
	if err := storeSealed(dir, grantsFile, list); err != nil {
		t.Fatal(err)
	}
	g, err := OpenGrants(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Add(grant("last")); err != nil {
		t.Errorf("grant %d: got %v, want it added", maxGrants, err)
	}
	if _, err := g.Add(grant("too many")); err == nil || !strings.Contains(err.Error(), "hookmux allow revoke") {
		t.Errorf("grant %d: got error %v, want one that names hookmux allow revoke", maxGrants+1, err)
	}
}

// Revoke drops the grant it is given, and none beside it; List says how often each was used.
func TestGrantsAreToldApart(t *testing.T) {
	g, err := OpenGrants(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, command := range []string{"one", "two", "three"} {
		added, err := g.Add(grant(command))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, added.ID)
	}
	need := policy.Need{Kind: policy.Permission}
	for range 2 {
		if _, ok := g.Match(call("two"), "", need, time.Now()); !ok {
			t.Error("the call of two is not granted")
		}
	}
	if _, used := g.List(time.Now()); used[ids[1]] != 2 || used[ids[0]] != 0 {
		t.Errorf("used = %v, want %s twice and no other", used, ids[1])
	}
	gone, ok, err := g.Revoke(ids[1])
	if !ok || err != nil || !slices.Equal(gone.Rule.Command, []string{"two"}) {
		t.Errorf("revoked %+v, %v, %v; want the grant of two", gone, ok, err)
	}
	for i, command := range []string{"one", "two", "three"} {
		if _, ok := g.Match(call(command), "", need, time.Now()); ok != (i != 1) {
			t.Errorf("%s is granted: %v, want %v", command, ok, i != 1)
		}
	}
	if _, ok, err := g.Revoke("gnone"); ok || err != nil {
		t.Errorf("revoking a grant that is not there: got %v, %v; want false and no error", ok, err)
	}
}
