package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Recording: what a run saw, without what is specific to this machine or this run, so that two runs of
// the same agent differ only if the agent does.

const (
	// maxRecorded leaves out payloads that are only large.
	maxRecorded = 16 << 10
	// maxAlike bounds how often one event of a run is recorded.
	maxAlike = 12
)

// record writes an agent's events and summary into a folder: both or none, so that what is there always
// belongs together. A run in which something couldn't be run isn't recorded.
func (r *AgentReport) record(dir, isolation string, runs []*testbed.Evidence) error {
	for _, e := range runs {
		if e.Err != nil {
			return fmt.Errorf("%s: not recorded, because %s could not be played: %w", r.Agent, e.Run, e.Err)
		}
	}
	s := recordings.Summary{
		Agent: r.Agent, Title: r.Title, Version: r.Version, Day: time.Now().UTC().Format("2006-01-02"),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Isolation: isolation,
	}
	for _, row := range r.Rows {
		s.Rows = append(s.Rows, recordings.Row{Check: row.Check, Event: row.Event, Claim: row.Claim,
			Mark: string(row.Mark), Why: row.Why})
	}
	summary, err := testbed.PlainJSON(s)
	if err != nil {
		return err
	}
	return writeTogether(dir, map[string][]byte{r.Agent + ".json": summary,
		r.Agent + ".jsonl": recordEvents(r.Agent, r.Version, runs)})
}

// writeTogether puts files into place once all of them are written. An empty
// one is left out.
func writeTogether(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ready := map[string]string{}
	defer func() {
		for temp := range ready {
			os.Remove(temp)
		}
	}()
	for name, text := range files {
		if len(text) == 0 {
			continue
		}
		temp := filepath.Join(dir, "."+name+".new")
		ready[temp] = filepath.Join(dir, name)
		if err := os.WriteFile(temp, text, 0o644); err != nil {
			return err
		}
	}
	for temp, file := range ready {
		if err := os.Rename(temp, file); err != nil {
			return err
		}
		delete(ready, temp)
	}
	return nil
}

func recordEvents(name, version string, runs []*testbed.Evidence) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, e := range runs {
		scrub := newScrubber(e.Folder)
		alike := map[string]int{}
		for _, x := range e.Seen {
			if alike[x.Event.Native]++; alike[x.Event.Native] > maxAlike {
				continue
			}
			line := recordings.Line{
				Agent:   name,
				Version: version,
				Run:     e.Run,
				Event:   x.Event.Native,
				Kind:    string(x.Event.Kind),
			}
			if x.Event.Tool != nil {
				line.Tool = string(x.Event.Tool.Kind)
			}
			if line.Payload = scrub.json(x.Event.Raw); line.Payload == nil {
				continue
			}
			_ = enc.Encode(line) // a buffer takes everything
		}
	}
	return out.Bytes()
}

// recordedText is how much of one text is kept.
const recordedText = 300

func cacheDir() string {
	dir, err := realagents.CacheDir()
	if err != nil {
		return ""
	}
	return dir
}

func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// scrubber makes what differs between runs the same.
type scrubber struct {
	base string
	ids  map[string]string
}

func newScrubber(base string) *scrubber { return &scrubber{base: base, ids: map[string]string{}} }

var (
	idPattern   = lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern = lazyregexp.New(`20\d\d-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?`)
	dayPattern  = lazyregexp.New(`20\d\d/\d\d/\d\d`)
	callPattern = lazyregexp.New(`call_hmx\d+x(\d+)`)
	millPattern = lazyregexp.New(
		`"(duration_ms|durationMs|timestamp|elapsed_time|session_duration_ms|duration|pid)":\s*[\d.]+`,
	)
	longPattern  = lazyregexp.New(`\b[0-9a-f]{16,64}\b`)
	stampPattern = lazyregexp.New(`\b1[789]\d{11}\b`)
)

// json scrubs a payload; nil when it is too large or no JSON.
func (s *scrubber) json(raw []byte) json.RawMessage {
	var small bytes.Buffer
	if len(raw) > maxRecorded || json.Compact(&small, bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))) != nil {
		return nil
	}
	// Long texts are an agent's own prompts to its model: not ours to keep.
	text, _ := redact.AppendJSON(nil, small.Bytes(), redact.Limits{String: recordedText, Output: recordedText})
	out := []byte(s.text(string(text)))
	if !json.Valid(out) {
		return nil
	}
	return out
}

func (s *scrubber) text(t string) string {
	if s.base != "" {
		// Agents put paths into names of folders as well, each in its way.
		for _, from := range []string{s.base, strings.ReplaceAll(s.base, "/", "%2F"),
			strings.ReplaceAll(s.base, "/", "-")} {
			to := "/stage"
			switch {
			case strings.HasPrefix(from, "%2F"):
				to = "%2Fstage"
			case strings.HasPrefix(from, "-"):
				to = "-stage"
			}
			t = strings.ReplaceAll(t, from, to)
		}
		t = strings.ReplaceAll(t, filepath.Base(s.base), "stage")
	}
	// Where agents are installed, and the home of the user who recorded.
	for _, from := range []string{cacheDir(), homeDir()} {
		if len(from) > 1 {
			t = strings.ReplaceAll(t, from, "/somewhere")
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 {
		t = strings.ReplaceAll(t, host, "host")
	}
	t = idPattern.Compiled().ReplaceAllStringFunc(t, s.id)
	t = timePattern.ReplaceAllString(t, "2026-01-01T00:00:00Z")
	t = dayPattern.ReplaceAllString(t, "2026/01/01")
	t = callPattern.ReplaceAllString(t, "call_hmx0000x$1")
	t = millPattern.ReplaceAllString(t, `"$1":1`)
	t = longPattern.ReplaceAllString(t, "0000000000000000")
	return stampPattern.ReplaceAllString(t, "1700000000000")
}

// id numbers ids in the order they appear, so that equal ones stay equal.
func (s *scrubber) id(was string) string {
	if s.ids[was] == "" {
		s.ids[was] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(s.ids)+1)
	}
	return s.ids[was]
}
