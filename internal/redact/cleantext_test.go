package redact

import (
	"fmt"
	"testing"
)

func TestCache(t *testing.T) {
	c := newCleanTexts()
	key := c.Key("/home/user/project", 0, 0)
	if c.Has(key) {
		t.Error("an empty cache knows a text")
	}
	c.Add(key)
	if !c.Has(key) || !c.Has(c.Key("/home/user/project", 0, 0)) {
		t.Error("a text that was added is not known")
	}
	for _, other := range []struct {
		name string
		key  uint64
	}{
		{"another text", c.Key("/home/user/projects", 0, 0)},
		{"another question", c.Key("/home/user/project", 1, 0)},
		{"more knowledge", c.Key("/home/user/project", 0, 1)},
		{"another cache", newCleanTexts().Key("/home/user/project", 0, 0)},
	} {
		if c.Has(other.key) {
			t.Errorf("%s counts as known", other.name)
		}
	}
}

func TestCacheForgets(t *testing.T) {
	c := newCleanTexts()
	const many = 16 * slots
	for i := range many {
		c.Add(c.Key(fmt.Sprint("text ", i), 0, 0))
	}
	known := 0
	for i := range many {
		if c.Has(c.Key(fmt.Sprint("text ", i), 0, 0)) {
			known++
		}
	}
	if known == 0 || known > slots {
		t.Errorf("%d of %d texts are known, want 1 to %d", known, many, slots)
	}
}
