package config

import (
	"encoding/json"
	"os"
	"testing"
)

// TestReleasedSettings reads the settings of the first release. What a release wrote keeps its meaning: a key that gets
// another name or another value needs a migration, and this file stays as it is.
func TestReleasedSettings(t *testing.T) {
	text, err := os.ReadFile("testdata/release-0.1.json")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.write(p.user, string(text))
	s := p.Settings()
	if got := problems(s); got != "" {
		t.Errorf("problems %q, want every setting of the release read", got)
	}
	var written map[string]json.RawMessage
	if err := json.Unmarshal(text, &written); err != nil {
		t.Fatal(err)
	}
	for name, raw := range written {
		key, ok := Find(name)
		if !ok {
			t.Errorf("%s is no setting any more", name)
			continue
		}
		want, err := key.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e, _ := s.Get(name); Format(e.Value) != Format(want) {
			t.Errorf("%s is %q, want %q", name, Format(e.Value), Format(want))
		}
	}
}
