package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openTest(t *testing.T) (*Index, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "search.db")
	x, err := Open(path, 7)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, path
}

func mustParse(t *testing.T, text string) Query {
	t.Helper()
	q, err := ParseQuery(text)
	if err != nil {
		t.Fatalf("ParseQuery(%q): %v", text, err)
	}
	return q
}

func TestQueriesMeanTheSameWithAndWithoutAnIndex(t *testing.T) {
	texts := []Text{
		{1, "run the database migration"}, {2, "rm -rf build/cache"}, {3, "Migrations für die Datenbank"},
		{4, "src/main.go:12: undefined"}, {5, "main without go, src elsewhere"}, {6, `say "hello" AND NOT bye`},
	}
	x, _ := openTest(t)
	if err := x.Add(t.Context(), texts, 6); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		text string
		want []int64
	}{
		{"migration", []int64{1, 3}},
		{"MIGR data", []int64{1}},
		{"migr dat", []int64{1, 3}},
		{`"database migration"`, []int64{1}},
		{`"migration database"`, nil},
		{"fur", []int64{3}},
		{"src/main.go", []int64{4}},
		{"rm -rf", []int64{2}},
		{"-- cache", []int64{2}},
		{"hello AND", []int64{6}},
		{"NOT", []int64{6}},
		{"text:migration", nil},
		{"migration*", []int64{1, 3}},
		{"nothing", nil},
	} {
		q := mustParse(t, one.text)
		indexed, err := x.Match(t.Context(), q, 0, 100, false, 100)
		if err != nil || !slices.Equal(indexed, one.want) {
			t.Errorf("Match(%q) = %v, error %v; want %v", one.text, indexed, err, one.want)
		}
		direct, err := MatchTexts(t.Context(), q, texts)
		if err != nil || !slices.Equal(direct, one.want) {
			t.Errorf("MatchTexts(%q) = %v, error %v; want %v", one.text, direct, err, one.want)
		}
	}
	for _, text := range []string{"", "  ", "--", `""`, `"-" *`} {
		if _, err := ParseQuery(text); !errors.Is(err, ErrNoWords) {
			t.Errorf("ParseQuery(%q): error %v, want ErrNoWords", text, err)
		}
	}
}

func FuzzQueriesAreNeverSyntaxErrors(f *testing.F) {
	for _, text := range []string{"a", `"a`, `a"b"c`, "a AND", "(a", "a^b", "a\x00b", "{a}", "a:b", "ⅷ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuery(text)
		if err != nil {
			return
		}
		if _, err := MatchTexts(context.Background(), q, []Text{{1, "a b c"}}); err != nil {
			t.Errorf("%q became %q: %v", text, q, err)
		}
	})
}

func TestPagesAndOrder(t *testing.T) {
	x, _ := openTest(t)
	var texts []Text
	for i := range int64(10) {
		texts = append(texts, Text{i + 1, "word"})
	}
	if err := x.Add(t.Context(), texts, 12); err != nil {
		t.Fatal(err)
	}
	q := mustParse(t, "word")
	if got, err := x.Match(t.Context(), q, 3, 9, false, 3); err != nil || !slices.Equal(got, []int64{3, 4, 5}) {
		t.Errorf("oldest first: %v, error %v", got, err)
	}
	if got, err := x.Match(t.Context(), q, 3, 9, true, 3); err != nil || !slices.Equal(got, []int64{9, 8, 7}) {
		t.Errorf("newest first: %v, error %v", got, err)
	}
	if s, err := x.Span(t.Context()); err != nil || s != (Span{0, 12}) {
		t.Errorf("span %v, error %v", s, err)
	}
}

func TestIndexOfAnotherJournalIsMadeAgain(t *testing.T) {
	x, path := openTest(t)
	if err := x.Add(t.Context(), []Text{{1, "word"}}, 1); err != nil {
		t.Fatal(err)
	}
	x.Close()
	if other, err := OpenReadOnly(path, 8); err != nil || other != nil {
		t.Errorf("another journal's index was opened: %v, error %v", other, err)
	}
	for _, damage := range []func(){func() {}, func() { os.WriteFile(path, []byte(strings.Repeat("garbage", 1000)), 0o600) }} {
		damage()
		other, err := Open(path, 8)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := other.Span(t.Context()); err != nil || s != (Span{}) {
			t.Errorf("span %v, error %v; want an empty index", s, err)
		}
		other.Close()
	}
}

func TestSizeIsBounded(t *testing.T) {
	x, _ := openTest(t)
	x.maxBytes = 1 << 20
	next := int64(1)
	for range 8 {
		var texts []Text
		for range 500 {
			texts = append(texts, Text{next, fmt.Sprintf("word%d %x %x %x", next, next*7919, next*104729, next*1299709)})
			next++
		}
		for i := range texts {
			texts[i].Text = strings.Repeat(texts[i].Text+" ", 8)
		}
		if err := x.Add(t.Context(), texts, next-1); err != nil {
			t.Fatal(err)
		}
	}
	x.maxBytes = 64 << 10
	if err := x.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := x.Span(t.Context())
	if err != nil || s.First == 0 {
		t.Errorf("span %+v, error %v; want the oldest left out", s, err)
	}
	var used int64
	if err := x.db.QueryRow("SELECT sum(length(block)) FROM words_data").Scan(&used); err != nil || used > x.maxBytes {
		t.Errorf("%d bytes of words are left, error %v; want at most %d", used, err, x.maxBytes)
	}
}

func TestForgottenEventsAreNotFound(t *testing.T) {
	x, _ := openTest(t)
	if err := x.Add(t.Context(), []Text{{1, "secret"}, {2, "secret"}, {3, "secret"}}, 3); err != nil {
		t.Fatal(err)
	}
	err := x.Forget(t.Context(), func(first, last int64) (map[int64]bool, error) {
		if first != 1 || last != 3 {
			t.Errorf("asked for %d to %d", first, last)
		}
		return map[int64]bool{2: true}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Match(t.Context(), mustParse(t, "secret"), 0, 10, false, 10); err != nil || !slices.Equal(got, []int64{2}) {
		t.Errorf("found %v, error %v; want [2]", got, err)
	}
}

func TestFullDiskIsToldAndLeavesTheIndexAsItWas(t *testing.T) {
	x, _ := openTest(t)
	x.db.SetMaxOpenConns(1) // the limit is the connection's
	if err := x.Add(t.Context(), []Text{{1, "word"}}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := x.db.Exec("PRAGMA max_page_count = 16"); err != nil {
		t.Fatal(err)
	}
	var texts []Text
	for i := range int64(2000) {
		texts = append(texts, Text{i + 2, fmt.Sprintf("word %x %x", i*7919, i*104729)})
	}
	if err := x.Add(t.Context(), texts, 2001); !IsFull(err) {
		t.Fatalf("error %v, want one that IsFull recognizes", err)
	}
	if s, err := x.Span(t.Context()); err != nil || s.Through != 1 {
		t.Errorf("span %+v, error %v; want it unchanged", s, err)
	}
	if _, err := x.db.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := x.Add(t.Context(), texts, 2001); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}
