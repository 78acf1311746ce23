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
	"github.com/hookmux/hookmux/internal/platform/sealed"
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
		`{"id":"unended"}`: "unended one two", line + "\n\n\n": "whole one two",
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
	for before, want := range map[int64]string{ // bytes in the file, besides the first record
		maxDecisionsFile - probe.size - 1: "one two", maxDecisionsFile - probe.size: "one two", maxDecisionsFile - probe.size + 1: "two",
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

// Most decisions make the file no longer, also after a restart: flushing them is faster.
func TestDecisionsFindRoom(t *testing.T) {
	b := NewDecisions(t.TempDir())
	commitAll(t, b, "one")
	size := func() int64 {
		info, err := os.Stat(filepath.Join(b.dir, decisionsFile))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	commitAll(t, b, "two")
	b.Close()
	commitAll(t, b, "three")
	if got := size(); got != before || before < spare {
		t.Errorf("the file has %d bytes after three decisions and %d after one, want as many, and %d or more", got, before, spare)
	}
	long := strings.Repeat("x", spare)
	commitAll(t, b, long, "four")
	if got := recordIDs(t, b); got != "one two three "+long+" four" {
		t.Errorf("the records are %.60q …, want all five", got)
	}
	b.Close()
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

// Nothing is permitted where it cannot be written down.
func TestPermissionsOnADiskThatRefuses(t *testing.T) {
	dir := t.TempDir()
	g, err := OpenPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, permissionsFile, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Add(permission("one")); err == nil {
		t.Error("a permission that could not be written: got no error, want one")
	}
	if list, _ := g.List(time.Now()); len(list) != 0 {
		t.Errorf("permissions in force: got %+v, want none", list)
	}
}

// There are at most maxPermissions; whoever wants more is told what to do.
func TestPermissionsAreBounded(t *testing.T) {
	dir := t.TempDir()
	var list []policy.SavedPermission
	for i := range maxPermissions - 1 {
		one := permission(fmt.Sprint("command", i))
		one.ID = fmt.Sprint("g", i)
		list = append(list, one)
	}
	if err := sealed.Store(dir, permissionsFile, list); err != nil {
		t.Fatal(err)
	}
	g, err := OpenPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Add(permission("last")); err != nil {
		t.Errorf("permission %d: got %v, want it added", maxPermissions, err)
	}
	if _, err := g.Add(permission("too many")); err == nil || !strings.Contains(err.Error(), "hookmux permissions remove") {
		t.Errorf("permission %d: got error %v, want one that names hookmux permissions remove", maxPermissions+1, err)
	}
}

// Revoke drops the permission it is given, and none beside it; List says how often each was used.
func TestPermissionsAreToldApart(t *testing.T) {
	g, err := OpenPermissions(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, command := range []string{"one", "two", "three"} {
		added, err := g.Add(permission(command))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, added.ID)
	}
	need := policy.Need{Kind: policy.Permission}
	for range 2 {
		if _, ok := g.Match(call("two"), "", need, time.Now()); !ok {
			t.Error("the call of two is not permitted")
		}
	}
	if _, used := g.List(time.Now()); used[ids[1]] != 2 || used[ids[0]] != 0 {
		t.Errorf("used = %v, want %s twice and no other", used, ids[1])
	}
	gone, ok, err := g.Revoke(ids[1])
	if !ok || err != nil || !slices.Equal(gone.Rule.Command, []string{"two"}) {
		t.Errorf("revoked %+v, %v, %v; want the permission of two", gone, ok, err)
	}
	for i, command := range []string{"one", "two", "three"} {
		if _, ok := g.Match(call(command), "", need, time.Now()); ok != (i != 1) {
			t.Errorf("%s is permitted: %v, want %v", command, ok, i != 1)
		}
	}
	if _, ok, err := g.Revoke("gnone"); ok || err != nil {
		t.Errorf("revoking a permission that is not there: got %v, %v; want false and no error", ok, err)
	}
}
