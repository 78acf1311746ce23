package daemoncmd

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// A mapping that somebody wrote into has bytes that no file has.
func TestUnchangedMappings(t *testing.T) {
	const smaps = `00400000-01a00000 r-xp 00000000 08:01 12 /usr/bin/hookmux
Rss:               18000 kB
Anonymous:             0 kB
01a00000-02000000 r--p 01600000 08:01 12 /usr/bin/hookmux
Anonymous:             4 kB
02000000-02100000 rw-p 02000000 08:01 12 /usr/bin/hookmux
Anonymous:             0 kB
02100000-02200000 r--p 02000000 08:01 12 /usr/bin/hookmux
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
7ffd0000-7ffd1000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
`
	got := unchangedMappings(strings.NewReader(smaps))
	if want := []mapping{{0x400000, 0x1a00000}, {0x2100000, 0x2200000}}; !slices.Equal(got, want) {
		t.Errorf("may be given back: %x, want %x", got, want)
	}
}

// The program goes on after its own pages were given back.
func TestReleasePages(t *testing.T) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if len(unchangedMappings(f)) == 0 {
		t.Fatal("none of this program's own mappings can be given back")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*pagesTime)
		defer cancel()
		releasePages(ctx)
	})
}
