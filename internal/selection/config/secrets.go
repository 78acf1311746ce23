package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/edit"
)

// HideSecrets gives two versions of a file of settings as anybody may see them: of an
// address only where it leads, of a key only that there is one, and whether it is
// another than before.
func HideSecrets(before, after []byte) (shownBefore, shownAfter []byte) {
	was, is := secretValues(before), secretValues(after)
	hide := func(text []byte, values map[string]string, old map[string]string) []byte {
		longest := slices.SortedFunc(maps.Keys(values), func(x, y string) int { return len(y) - len(x) })
		for _, raw := range longest {
			key := values[raw]
			changed := old != nil && hasKey(old, key) && old[raw] != key
			text = bytes.ReplaceAll(text, []byte(raw), showSecret(key, raw, changed))
		}
		return text
	}
	return hide(bytes.Clone(before), was, nil), hide(bytes.Clone(after), is, was)
}

func hasKey(values map[string]string, key string) bool {
	for _, one := range values {
		if one == key {
			return true
		}
	}
	return false
}

// secretPair finds secrets where a file cannot be read as JSON, or names one twice.
var secretPair = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, key := range table {
		if key.Secret {
			names = append(names, regexp.QuoteMeta(key.Name))
		}
	}
	return regexp.MustCompile(`"(` + strings.Join(names, "|") + `)"\s*:\s*("(?:[^"\\\n]|\\.)*"?)`)
})

// secretValues returns the secrets in a file as they are written there, with their keys.
func secretValues(text []byte) map[string]string {
	values := map[string]string{}
	add := func(key string, raw []byte) {
		if len(raw) > 2 && raw[0] == '"' {
			values[string(raw)] = key
		}
	}
	for _, pair := range secretPair().FindAllSubmatch(text, -1) {
		add(string(pair[1]), pair[2])
	}
	if doc, err := edit.Parse(text); err == nil && len(doc.Raw()) > 0 && doc.Raw()[0] == '{' {
		for _, name := range doc.Keys() {
			if key, ok := Find(name); ok && key.Secret {
				add(name, []byte(doc.Raw(name)))
			}
		}
	}
	return values
}

// showSecret returns how a secret is shown, as JSON.
func showSecret(key, raw string, changed bool) []byte {
	var value string
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		value = strings.Trim(raw, `"`)
	}
	shown := "(set)"
	switch {
	case strings.HasPrefix(value, FilePrefix):
		return []byte(raw)
	case key == NotifyWebhook:
		shown = "(set: an address that cannot be read)"
		if u, err := url.Parse(value); err == nil && u.Host != "" {
			shown = u.Scheme + "://" + u.Host + "/…"
		}
	}
	if changed {
		shown += " (changed)"
	}
	out, err := json.Marshal(shown)
	if err != nil {
		return []byte(`"(set)"`) // a string
	}
	return out
}
