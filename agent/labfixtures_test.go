package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// labFolder names a folder with one folder of recorded payloads for each agent, such as those the fixtures here were
// chosen from. Every payload in it is accounted for like the fixtures.
const labFolder = "HOOKMUX_LAB_FIXTURES"

// notPayloads are files of a lab that are no payloads of events. Amp's plugin of the lab wrapped what it was given.
var notPayloads = []string{"decisions.json", "index.json", "session.start.json"}

// counted is the end of a file of which there are several.
var counted = regexp.MustCompile(`-\d+\.json$`)

func TestLabFixturesAreAccountedFor(t *testing.T) {
	dir := os.Getenv(labFolder)
	if dir == "" {
		t.Skipf("%s names no folder", labFolder)
	}
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	read, agents := 0, 0
	for _, folder := range folders {
		a, ok := Builtin().Agent(folder.Name())
		if !ok {
			t.Logf("%s is no agent", folder.Name())
			continue
		}
		agents++
		files, err := filepath.Glob(filepath.Join(dir, folder.Name(), "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(notPayloads, name) || !json.Valid(payload) || strings.HasPrefix(string(payload), "[") {
				continue
			}
			event := fixtureEvent(a, strings.TrimPrefix(counted.ReplaceAllString(name, ".json"), "notify."), payload)
			if event == "" {
				t.Logf("%s/%s: of no event in the catalogue", a.Name, name)
				continue
			}
			read++
			accountForFixture(t, Builtin(), fixture{agent: a.Name, file: name, event: event, payload: payload})
		}
	}
	t.Logf("%d payloads of %d agents", read, agents)
	if read == 0 {
		t.Errorf("%d payloads were read in %s, want some", read, dir)
	}
}
