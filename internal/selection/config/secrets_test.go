package config

import (
	"strings"
	"testing"
)

// Whoever looks at a change of settings sees where notices would go, and no secret:
// not where nothing else changed, nor in a file that cannot be read or names one twice.
func TestHideSecrets(t *testing.T) {
	const old = `{"notify.webhook": "https://hooks.example.com/T0KEN-A", "notify.webhookSecret": "T0KEN-K"}`
	for name, c := range map[string]struct {
		after string
		want  []string
	}{
		"another host": {`{"notify.webhook": "https://evil.example/T0KEN-B"}`,
			[]string{`"https://evil.example/… (changed)"`}},
		"another token": {`{"notify.webhook": "https://hooks.example.com/T0KEN-B", "notify.webhookSecret": "T0KEN-K"}`,
			[]string{`"https://hooks.example.com/… (changed)"`, `"notify.webhookSecret": "(set)"`}},
		"another key": {`{"notify.webhook": "https://hooks.example.com/T0KEN-A", "notify.webhookSecret": "T0KEN-L"}`,
			[]string{`"https://hooks.example.com/…"`, `"(set) (changed)"`}},
		"nothing of these": {strings.Replace(old, "{", `{"notify": "off", `, 1),
			[]string{`"https://hooks.example.com/…"`, `"(set)"`, `"notify": "off"`}},
		"cannot be read": {`{"notify.webhook": "https://hooks.example.com/T0KEN-A", "notify.webhookSecret": "T0KEN`,
			[]string{`"https://hooks.example.com/…"`}},
		"twice": {`{"notify.webhook": "https://a.example/T0KEN-1", "notify.webhook": "https://b.example/T0KEN-2"}`,
			[]string{"https://a.example/…", "https://b.example/…"}},
		"escaped":      {`{"notify.\u0077ebhook": "https:\/\/a.example\/T0KEN-1"}`, []string{"https://a.example/…"}},
		"a user in it": {`{"notify.webhook": "https://me:T0KEN@a.example/x"}`, []string{`"https://a.example/… (changed)"`}},
		"no address":   {`{"notify.webhook": "T0KEN"}`, []string{"cannot be read"}},
		"a file":       {`{"notify.webhook": "file:~/hook"}`, []string{`"file:~/hook"`}},
		"no settings":  {`T0`, []string{"T0"}},
	} {
		before, after := HideSecrets([]byte(old), []byte(c.after))
		if strings.Contains(string(before)+string(after), "T0KEN") {
			t.Errorf("%s: a secret is shown: %s, then %s", name, before, after)
		}
		for _, want := range c.want {
			if !strings.Contains(string(after), want) {
				t.Errorf("%s: shown as %s, want %s in it", name, after, want)
			}
		}
	}
	if before, after := HideSecrets(nil, []byte(old)); len(before) != 0 || strings.Contains(string(after), "changed") {
		t.Errorf("a new file is shown as %s, then %s", before, after)
	}
}
