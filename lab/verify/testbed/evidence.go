package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/wire"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/recorder/spool"
)

// Seen is one event as the watcher saw it, and what was answered.
type Seen struct {
	Event    event.Event
	Decision event.Decision // as it went out, with what was degraded
	Answer   neutral.Answer
}

// Evidence holds what one run showed.
type Evidence struct {
	Run      string
	Err      error  // the agent couldn't be made to run it
	Missing  string // why it cannot be run here at all
	Seen     []Seen
	Requests []model.Request
	Told     []model.Message
	Files    map[string]string // what is in the project afterwards
	Exit     int
	Signal   string
	Stdout   string
	Stderr   string
	Screens  []string
	Spooled  []spool.Record
	Broken   Broken            // of the run with broken hooks
	Inbox    Inbox             // of the runs in which the user answers from elsewhere
	Refusing bool              // the user's hooks deny while no daemon answers
	Status   map[string]Moment // of the run about status
	Left     int               // processes that outlived the agent and had to be ended
	Took     time.Duration
	Late     bool   // most of the time it may take was over
	Version  string // as the agent said it
	Folder   string // of the test bed, while it is kept
}

// Events returns those of a native name.
func (e *Evidence) Events(native string) []Seen {
	var out []Seen
	for _, s := range e.Seen {
		if s.Event.Native == native {
			out = append(out, s)
		}
	}
	return out
}

// ToolEvent returns the event of a native name that is about the tagged call.
func (e *Evidence) ToolEvent(native, tag string) (Seen, bool) {
	for _, s := range e.Events(native) {
		if TagOf(&s.Event) == tag {
			return s, true
		}
	}
	return Seen{}, false
}

// Ran reports whether the tagged command was really run.
func (e *Evidence) Ran(tag string) bool {
	_, ok := e.Files["ran-"+tag]
	return ok
}

// Saw reports whether the model was sent a text.
func (e *Evidence) Saw(text string) bool { return e.SawTimes(text) > 0 }

// SawAside also looks at what agents ask the model for themselves: titles and
// summaries.
func (e *Evidence) SawAside(text string) bool {
	for _, q := range e.Requests {
		for _, m := range q.Messages {
			if m.Role != model.RoleAssistant && strings.Contains(m.Text, text) {
				return true
			}
		}
	}
	return e.Saw(text)
}

// SawTimes returns how many of the messages sent contain the text. The model's own turns are
// ignored, otherwise every scripted call would be its own proof.
func (e *Evidence) SawTimes(text string) int {
	n := 0
	for _, m := range e.Told {
		if m.Role != model.RoleAssistant && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// Asked returns the number of requests that belong to the script.
func (e *Evidence) Asked() int {
	n := 0
	for _, q := range e.Requests {
		if q.Kind == model.ReqScripted || q.Kind == model.ReqOver || q.Kind == model.ReqPlain {
			n++
		}
	}
	return n
}

// Reached reports whether the model was asked for a step of the main script.
func (e *Evidence) Reached(step int) bool {
	for _, q := range e.Requests {
		if (q.Kind == model.ReqScripted || q.Kind == model.ReqOver) && q.Script == "" && q.Step >= step {
			return true
		}
	}
	return false
}

// Showed reports whether the user could have read a text: on the screen or in what the agent
// printed.
func (e *Evidence) Showed(text string) bool {
	for _, s := range e.Screens {
		// A terminal breaks lines anywhere.
		if strings.Contains(strings.Join(strings.Fields(s), " "), text) {
			return true
		}
	}
	return strings.Contains(e.Stdout, text) || strings.Contains(e.Stderr, text)
}

// maxKept bounds a file of the project that is remembered.
const maxKept = 4 << 10

func ProjectFiles(dir string) map[string]string {
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, f := range entries {
		if f.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			continue
		}
		out[f.Name()] = string(b[:min(len(b), maxKept)])
	}
	return out
}

// Broken holds what broken hooks left behind.
type Broken struct {
	Called map[string]bool // by the command's tag, and "other": a sound hook
	// Waited is the time between the hook that hangs and the command it was
	// called for; 0 when either is missing.
	Waited time.Duration
}

// Moment is one thing that was waited for in the run about status.
type Moment struct {
	Seen bool
	Took time.Duration
	Got  string // what was there instead, or what came with it
}

// Inbox is how the requests of a run ended, by the command's tag.
type Inbox struct {
	Asked   map[string]wire.InboxRequest // as they came
	Ended   map[string]wire.InboxRequest // as they ended
	Replies map[string]string            // what the reply heard
	Times   map[string]int               // how often one came
	// Prompted is how long after the request was released the agent's own prompt
	// was on the screen; negative if it never was.
	Prompted time.Duration
	// Early says that a command ran while its request still waited.
	Early []string
	// Sign is when the first sign of an answer at the agent's own prompt could
	// be seen after the key, Gone how long after that sign the request was out
	// of the inbox; negative when it did not come.
	Sign, Gone time.Duration
}
