package shell

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestCacheParses(t *testing.T) {
	var c Cache
	long := "echo " + strings.Repeat("x", cachedText)
	for _, text := range []string{"", "rm -rf ~", "cd /tmp && ls | wc -l", "echo 'open", long} {
		want := Parse(text)
		for range 2 {
			if got := c.Parse(text); !reflect.DeepEqual(got, &want) {
				t.Errorf("%.40q: cached %+v, parsed %+v; want got equal to &want", text, got, want)
			}
		}
	}
	for text, kept := range map[string]bool{"rm -rf ~": true, long: false} {
		first, second := c.Parse(text), c.Parse(text)
		if (first == second) != kept {
			t.Errorf("%.40q: the same script twice is %v, want %v", text, first == second, kept)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	var (
		c     Cache
		group sync.WaitGroup
	)
	for w := range 4 {
		group.Go(func() {
			for i := range 3 * cachedScripts {
				text := fmt.Sprintf("make target-%d", (i+w)%(2*cachedScripts))
				if got := c.Parse(text).Runs[0].Argv[1].Text; got != text[len("make "):] {
					t.Errorf("%s was parsed as %s", text, got)
				}
			}
		})
	}
	group.Wait()
	if n := c.scripts.Len(); n > cachedScripts {
		t.Errorf("%d scripts are kept, want at most %d", n, cachedScripts)
	}
}
