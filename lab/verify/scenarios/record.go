package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/timeline"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// recorder writes down, in order, what an agent reports and what it writes about its
// session.
type recorder struct {
	st    *testbed.TestBed
	start time.Time

	mu     sync.Mutex
	steps  []timeline.Step
	events int // of the watcher's that are written down
	reader *transcript.Reader
	read   map[string][]byte // what of each record is written down
}

func newRecorder(st *testbed.TestBed) *recorder {
	return &recorder{st: st, start: time.Now(), read: map[string][]byte{}}
}

func (r *recorder) addStep(s timeline.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collect()
	s.After = time.Since(r.start)
	r.steps = append(r.steps, s)
}

// followSession collects until ctx ends.
func (r *recorder) followSession(ctx context.Context) {
	for testbed.PauseFor(ctx, 20*time.Millisecond) {
		r.mu.Lock()
		r.collect()
		r.mu.Unlock()
	}
}

// collect adds what is new.
func (r *recorder) collect() {
	seen := r.st.Watcher.AllSeen()
	for _, s := range seen[r.events:] {
		r.events++
		at := s.Event.Time.Sub(r.start)
		r.steps = append(r.steps, timeline.Step{
			After: at, Kind: timeline.Event, Name: s.Event.Native, Text: r.scrub(compactJSON(s.Event.Raw)),
		})
		if s.Decision.Verdict != event.None {
			r.steps = append(r.steps, timeline.Step{
				After: at, Kind: timeline.Decided, Name: s.Event.Native, Text: string(s.Decision.Verdict),
			})
		}
		if r.reader == nil && s.Event.Session != "" && s.Event.Subagent == nil {
			env := transcript.Env{Home: r.st.Home, Getenv: r.st.LookupEnv}
			r.reader, _ = transcript.Open(&r.st.Agent.Status.Transcript, s.Event.Session, s.Event.Transcript, env)
		}
	}
	if len(seen) > 0 {
		r.collectState(&seen[0].Event)
	}
	if r.reader == nil {
		return
	}
	for _, file := range r.reader.Files() {
		r.collectFile(file)
	}
}

// collectState adds the small file in which some agents record what they are doing.
func (r *recorder) collectState(ev *event.Event) {
	inbox := r.st.Agent.Inbox
	if inbox == nil || inbox.State == nil || ev.Transcript == "" || ev.Where.PID <= 0 {
		return
	}
	pid := strconv.Itoa(ev.Where.PID)
	file := filepath.Join(filepath.Dir(ev.Transcript), strings.ReplaceAll(inbox.State.Path, "{pid}", pid))
	now, err := os.ReadFile(file)
	if err != nil || !json.Valid(now) {
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(now, &fields) != nil {
		return
	}
	said := compactJSON(now)
	if kept, err := json.Marshal(map[string]json.RawMessage{
		inbox.State.Session: fields[inbox.State.Session], inbox.State.Status: fields[inbox.State.Status],
	}); err == nil {
		said = string(kept)
	}
	name, err := filepath.Rel(r.st.Home, file)
	if err != nil || string(r.read[file]) == said {
		return
	}
	r.read[file] = []byte(said)
	r.steps = append(r.steps, timeline.Step{
		After: time.Since(r.start), Kind: timeline.File, Name: strings.Replace(name, pid, "{pid}", 1), Text: said,
	})
}

// collectFile adds what was appended to a record, without the rows that say nothing about the
// session.
func (r *recorder) collectFile(file string) {
	now, err := os.ReadFile(file)
	if err != nil || bytes.Equal(now, r.read[file]) {
		return
	}
	name, err := filepath.Rel(r.st.Home, file)
	if err != nil {
		return
	}
	after := time.Since(r.start)
	if !strings.HasSuffix(file, ".jsonl") {
		if json.Valid(now) {
			r.read[file] = now
			r.steps = append(r.steps, timeline.Step{After: after, Kind: timeline.File, Name: name,
				Text: r.scrub(compactJSON(now))})
		}
		return
	}
	added, isLonger := bytes.CutPrefix(now, r.read[file])
	if !isLonger { // it was rewritten
		added = now
	}
	end := bytes.LastIndexByte(added, '\n') + 1
	r.read[file] = bytes.Clone(now[:len(now)-len(added)+end])
	for _, line := range bytes.Split(added[:end], []byte("\n")) {
		if len(line) > 0 && r.reader.Tells(file, line) {
			r.steps = append(r.steps, timeline.Step{After: after, Kind: timeline.Line, Name: name,
				Text: r.scrub(string(line))})
		}
	}
}

// scrub removes this machine's folders.
func (r *recorder) scrub(text string) string {
	text = strings.ReplaceAll(text, r.st.Base, "{base}")
	// Some agents make names of folders out of paths.
	text = strings.ReplaceAll(text, strings.ReplaceAll(r.st.Base, "/", "-"), "{base-name}")
	for _, folder := range []string{filepath.Dir(r.st.In.Argv[len(r.st.In.Argv)-1]), r.st.Bin} {
		text = strings.ReplaceAll(text, folder, "/opt/agent")
	}
	return text
}

func compactJSON(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))) != nil {
		return string(raw)
	}
	return b.String()
}

// recording returns the whole of it.
func (r *recorder) recording(s *Scenario) *timeline.Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &timeline.Recording{About: s.About, Agent: r.st.Driver.Name, Version: r.st.Table.Version, Start: r.start}
	for _, step := range r.steps {
		step.Name = strings.ReplaceAll(step.Name, strings.ReplaceAll(r.st.Base, "/", "-"), "{base-name}")
		out.Steps = append(out.Steps, step)
	}
	return out
}
