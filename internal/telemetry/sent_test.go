package telemetry

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// sent is what hookmux sends, as testdata/sent.json has it: for each span, log record, metric
// and the resource its attributes, each with its type and when it's there: always, on_error,
// content (only while content is on), or known (where hookmux knows it).
type sent map[string]map[string]string

func readSent(t *testing.T) (table sent) {
	t.Helper()
	b, err := os.ReadFile("testdata/sent.json")
	if err == nil {
		err = json.Unmarshal(b, &table)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// everything is a turn with all that a turn may have besides oneTurn's.
func everything(s *Service, at time.Time) {
	ev := func(kind event.Kind, after time.Duration) *event.Event {
		one := &event.Event{ID: string(kind), Time: at.Add(after), Agent: "codex", AgentVersion: "1", Kind: kind, Session: "session-2",
			Model: "gpt-5", Subagent: &event.Subagent{Type: "explorer"}}
		if kind == event.ToolBefore {
			one.Tool = &event.Tool{Name: "shell", CallID: "call-9", Input: json.RawMessage(`{}`)}
		}
		return one
	}
	deny := event.Decision{Verdict: event.Deny, By: "you", Reason: "no"}
	s.Note(Call{Event: ev(event.TurnStart, 0), Took: time.Millisecond})
	s.NoteUse(Use{Agent: "codex", Session: "session-2", Model: "nobody-knows", ID: "2", At: at.Add(time.Second), Input: 10, Output: 1})
	s.NoteUse(Use{Agent: "codex", Session: "session-2", Model: "gpt-5", ID: "3", At: at.Add(time.Second), Input: 10, Output: 1, Dollars: 1, Priced: true})
	s.Note(Call{Event: ev(event.ToolBefore, time.Second), Took: 2 * time.Second, Waited: time.Second, Ended: "answered", Decision: deny,
		Steps: []hook.Step{{Hook: "mine", Role: hook.Guard, Took: time.Millisecond, Verdict: event.Ask}}})
	s.Note(Call{Event: ev(event.SessionEnd, 3*time.Second)}) // the turn's end isn't told
}

// Whatever is sent is in the table, with its type, and whatever the table says is there is:
// attributes of spans, records, metrics and the resource.
func TestNothingElseIsSent(t *testing.T) {
	table := readSent(t)
	met := map[string]bool{}
	for _, content := range []bool{false, true} {
		c := newCollector(t)
		s, end := started(t, Settings{Endpoint: c.URL, Content: content}, nil)
		oneTurn(s, time.Now())
		everything(s, time.Now())
		end()
		checkConventions(t, c)
		check := func(signal string, list []*commonpb.KeyValue, failed bool) {
			t.Helper()
			want, known := table[signal]
			if !known {
				t.Errorf("%s isn't in the table", signal)
			}
			for _, kv := range list {
				kind, when, _ := strings.Cut(want[kv.Key], " ")
				if is := map[string]string{"string": "string", "int64": "int", "float64": "double"}[fmt.Sprintf("%T", plain(kv.Value))]; is != kind {
					t.Errorf("%s has %s with a %s; the table says %q", signal, kv.Key, is, want[kv.Key])
				}
				if when == "content" && !content || when == "on_error" && !failed {
					t.Errorf("%s has %s, content %v, failed %v", signal, kv.Key, content, failed)
				}
				met[signal+" "+kv.Key] = true
			}
			for key, is := range want {
				_, when, _ := strings.Cut(is, " ")
				if (when == "always" || when == "on_error" && failed) && find(list, key) == nil {
					t.Errorf("%s lacks %s", signal, key)
				}
			}
		}
		check("resource", c.resource, false)
		for _, span := range c.spans {
			name, _, _ := strings.Cut(span.Name, " ")
			check("span "+name, span.Attributes, span.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR)
		}
		for _, r := range c.logs {
			check("log "+r.EventName, r.Attributes, false)
		}
		for name, m := range c.metrics {
			for _, list := range pointsOf(m) {
				check("metric "+name, list, false)
			}
		}
	}
	for signal, attributes := range table {
		for key := range attributes {
			if !met[signal+" "+key] {
				t.Errorf("%s never had %s", signal, key)
			}
		}
	}
}

// What begins with gen_ai. is an attribute of the conventions, of the type they say, also
// where it's on something that they don't have, such as a log record.
func TestNamesAreOfTheConventions(t *testing.T) {
	conv := readConventions(t)
	types := map[string]string{}
	note := func(attributes map[string]convention) {
		for key, is := range attributes {
			types[key] = is.Type
		}
	}
	for _, one := range conv.Spans {
		note(one.Attributes)
	}
	for _, one := range conv.Metrics {
		note(one.Attributes)
	}
	for signal, attributes := range readSent(t) {
		for key, is := range attributes {
			kind, _, _ := strings.Cut(is, " ")
			want, known := types[key]
			if strings.HasPrefix(key, "gen_ai.") && (!known || want != kind && want != "any") {
				t.Errorf("%s has %s as %s; the conventions say %q", signal, key, kind, want)
			}
		}
	}
}

// pointsOf are the attributes of each point of a metric.
func pointsOf(m *metricspb.Metric) (lists [][]*commonpb.KeyValue) {
	for _, p := range m.GetHistogram().GetDataPoints() {
		lists = append(lists, p.Attributes)
	}
	for _, p := range m.GetSum().GetDataPoints() {
		lists = append(lists, p.Attributes)
	}
	return lists
}
