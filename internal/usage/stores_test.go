package usage

import (
	"fmt"
	"testing"
	"time"
)

func TestEntriesNameFormats(t *testing.T) {
	if len(stores()) < 15 {
		t.Errorf("%d agents have records that are read, want 15 or more", len(stores()))
	}
	for _, one := range stores() {
		if len(one.files) == 0 || len(one.roots) == 0 {
			t.Errorf("%s: %d kinds of files in %d folders; its entry's usage must name a format and folders", one.agent,
				len(one.files), len(one.roots))
		}
	}
}

// A first import asks the store for an id that may be known: never too seldom, or a call
// would be counted twice, and hardly ever for nothing.
func TestIDsOfAFirstImport(t *testing.T) {
	const ids = 200_000
	known, asked := newKnownIDs(), 0
	for n := range ids {
		if !known.addNew(keyBase("claude", fmt.Sprint("msg_", n), 0)) {
			asked++
		}
	}
	if asked > ids/1000 {
		t.Errorf("%d of %d ids that are new look known", asked, ids)
	}
	for n := range ids {
		if known.addNew(keyBase("claude", fmt.Sprint("msg_", n), 0)) {
			t.Fatalf("msg_%d looks new the second time", n)
		}
	}
}

// Where every id looks known, an import counts the same.
func TestAFullFilterChangesNoNumber(t *testing.T) {
	w := newWorld(t)
	full := newKnownIDs()
	for i := range full {
		full[i] = ^uint64(0)
	}
	for range 2 { // the second batch has what the first one wrote
		b, err := w.store.begin(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b.known = full
		for n := range 3 * 500 {
			c := Call{Agent: "claude", ID: fmt.Sprint("msg_", n%500), Tokens: Tokens{Input: 2}, At: time.Unix(1, 0)}
			if err := b.add(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.commit(); err != nil {
			t.Fatal(err)
		}
	}
	w.wants("each id once", Tokens{Input: 1000})
}
