package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
	})
	return s
}

// everyWire runs a test for all four APIs, streaming and not.
func everyWire(t *testing.T, f func(t *testing.T, w wire, stream bool)) {
	for _, w := range wires {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", w.name, stream), func(t *testing.T) { f(t, w, stream) })
		}
	}
}

func user(text string) Message { return Message{Role: RoleUser, Kind: KindText, Text: text} }

func result(c Message, text string) Message {
	return Message{Role: RoleTool, Kind: KindToolResult, ToolCallID: c.ToolCallID, ToolName: c.ToolName, Text: text}
}

func made(c Message) Message {
	c.Role, c.Kind = RoleAssistant, KindToolCall
	return c
}

var shell = []string{"shell"}

func TestFollowsAScenarioStepByStep(t *testing.T) {
	const long = "A sentence that is longer than one streamed piece, with ümläuts & <angle brackets>."
	s := start(t, Options{})
	everyWire(t, func(t *testing.T, w wire, stream bool) {
		run := fmt.Sprintf("%s %v", w.name, stream)
		s.SetScenario(run, Scenario{Steps: []Step{
			{Say: long, Calls: []ToolCall{Call("shell", obj{"command": "echo hi > f && cat f"})}},
			{Calls: []ToolCall{Call("shell", obj{"command": "a"}), Call("shell", obj{"command": "b"})}},
			{Say: "Done."},
		}})
		h := []Message{user("Go " + Mark(""))}
		a := w.ask(t, s.URL(run), h, shell, stream)
		if a.text != long || len(a.calls) != 1 || a.calls[0].ToolName != "shell" {
			t.Fatalf(`first step: %+v; want a.text == long, len(a.calls) == 1 and a.calls[0].ToolName == "shell"`, a)
		}
		var in struct{ Command string }
		if err := json.Unmarshal([]byte(a.calls[0].Text), &in); err != nil || in.Command != "echo hi > f && cat f" {
			t.Fatalf(`input %q: %v; want no error and in.Command == "echo hi > f && cat f"`, a.calls[0].Text, err)
		}
		h = append(h, Message{Role: RoleAssistant, Kind: KindText, Text: a.text}, made(a.calls[0]),
			result(a.calls[0], "hi-from-tool"))
		a = w.ask(t, s.URL(run), h, shell, stream)
		if len(a.calls) != 2 || a.calls[0].ToolCallID == a.calls[1].ToolCallID {
			t.Fatalf("parallel calls: %+v; want len(a.calls) == 2 and a.calls[0].ToolCallID != "+
				"a.calls[1].ToolCallID", a)
		}
		// Some agents put each call beside its result: still one turn.
		h = append(h, made(a.calls[0]), result(a.calls[0], "ra"), made(a.calls[1]), result(a.calls[1], "rb"))
		a = w.ask(t, s.URL(run), h, shell, stream)
		if a.text != "Done." || len(a.calls) != 0 {
			t.Fatalf(`last step: %+v; want a.text == "Done." and len(a.calls) == 0`, a)
		}
		if a.finish == "" {
			t.Error("no finish reason")
		}
		h = append(h, Message{Role: RoleAssistant, Kind: KindText, Text: a.text}, user("and more"))
		if a = w.ask(t, s.URL(run), h, shell, stream); a.text != overText {
			t.Errorf("after the end: %+v", a)
		}

		for _, want := range []string{"hi-from-tool", "ra", "rb", "You are a test.", "Go "} {
			if s.SawTimes(run, want) < 1 {
				t.Errorf("the model was told %q, but it is not recorded", want)
			}
		}
		if n := s.SawTimes(run, "hi-from-tool"); n != 1 {
			t.Errorf("one result in four requests counted %d times", n)
		}
		if s.Saw(run, "echo hi") {
			t.Error("the model's own call counts as told")
		}
		res := s.Results(run)
		if len(res) != 3 || res[0].Text != "hi-from-tool" || res[0].ToolCallID == "" || res[0].Role != RoleTool {
			t.Errorf(`results: %+v; want len(res) == 3, res[0].Text == "hi-from-tool", res[0].ToolCallID != `+
				`"" and res[0].Role == RoleTool`, res)
		}
		if !s.Reached(run, "", 2) || !s.Reached(run, "", 3) || s.Reached(run, "", 4) {
			t.Error("Played is wrong")
		}
		q := s.Requests(run)
		if len(q) != 4 || q[0].Kind != ReqScripted || q[3].Kind != ReqOver || q[1].Step != 1 || q[0].API != w.name ||
			q[0].Stream != stream || q[0].Tools[0] != "shell" {
			t.Errorf(`requests: %+v; want len(q) == 4, q[0].Kind == ReqPlayed, q[3].Kind == ReqOver, `+
				`q[1].Step == 1, q[0].API == w.name, q[0].Stream == stream and q[0].Tools[0] == "shell"`, q)
		}
	})
}

func TestNewestMarkerChoosesTheScript(t *testing.T) {
	s := start(t, Options{})
	everyWire(t, func(t *testing.T, w wire, stream bool) {
		run := fmt.Sprint(w.name, stream)
		s.SetScenario(run, Scenario{
			Steps: []Step{{Say: "one"}, {Say: "two"}},
			Named: map[string][]Step{"second": {{Say: "second one"}}},
		})
		h := []Message{user(Mark("")), {Role: RoleAssistant, Kind: KindText, Text: "one"},
			user("now " + Mark("second"))}
		if a := w.ask(t, s.URL(run), h, shell, stream); a.text != "second one" {
			t.Errorf(`got %q, want "second one"`, a.text)
		}
		if a := w.ask(t, s.URL(run), h[:2], shell, stream); a.text != "two" {
			t.Errorf(`got %q, want "two"`, a.text)
		}
		if a := w.ask(t, s.URL(run), []Message{user(Mark("absent"))}, shell, stream); !strings.Contains(a.text,
			"absent") {
			t.Errorf(`got %q; want "absent" in a.text`, a.text)
		}
	})
}

func TestSideRequestsAreHarmless(t *testing.T) {
	s := start(t, Options{})
	everyWire(t, func(t *testing.T, w wire, stream bool) {
		run := fmt.Sprint(w.name, stream)
		s.SetScenario(run, Scenario{Steps: []Step{{Calls: []ToolCall{Call("shell", obj{})}}}})
		for name, c := range map[string]struct {
			h     []Message
			tools []string
			kind  string
		}{
			"no tools":     {[]Message{user("title for: " + Mark(""))}, nil, ReqSide},
			"words only":   {[]Message{user(Mark("")), user("Do not call any tools. Summarise.")}, shell, ReqSide},
			"titles":       {[]Message{{Role: RoleSystem, Kind: KindText, Text: "You are tasked with generating the session title."}, user(Mark(""))}, shell, ReqSide},
			"dashboard":    {[]Message{user(Mark("")), {Role: RoleAssistant, Kind: KindText, Text: "x"}, user("<system-reminder>Write an ultra-short dashboard line</system-reminder>")}, shell, ReqSide},
			"no marker":    {[]Message{user("hello")}, shell, ReqPlain},
			"reminder":     {[]Message{user("<system-reminder>" + Mark("") + "</system-reminder>")}, shell, ReqPlain},
			"tool said it": {[]Message{user("x"), made(Message{ToolCallID: "c", ToolName: "shell", Text: "{}"}), {Role: RoleTool, Kind: KindToolResult, ToolCallID: "c", ToolName: "shell", Text: Mark("")}}, shell, ReqPlain},
		} {
			a := w.ask(t, s.URL(run), c.h, c.tools, stream)
			if a.text == "" || len(a.calls) > 0 {
				t.Errorf("%s: a = %+v, want a.text not empty and no a.calls", name, a)
			}
			q := s.Requests(run)
			if got := q[len(q)-1].Kind; got != c.kind {
				t.Errorf("%s: kind %s, want %s", name, got, c.kind)
			}
		}
		if s.Saw(run, "title for") {
			t.Error("a side request counts as told")
		}
	})
}

func TestFailures(t *testing.T) {
	s := start(t, Options{})
	everyWire(t, func(t *testing.T, w wire, stream bool) {
		run := fmt.Sprint(w.name, stream)
		s.SetScenario(run, Scenario{
			Steps: []Step{{Fail: &Fail{Status: 529, Times: 2}, Say: "recovered"}},
			Named: map[string][]Step{"ever": {{Fail: &Fail{Status: 401}}}},
		})
		var got []int
		var last answer
		for range 3 {
			last = w.ask(t, s.URL(run), []Message{user(Mark(""))}, shell, stream)
			got = append(got, last.status)
		}
		if fmt.Sprint(got) != "[529 529 200]" || last.text != "recovered" {
			t.Errorf(`statuses %v, then %q; want fmt.Sprint(got) == "[529 529 200]" and last.text == `+
				`"recovered"`, got, last.text)
		}
		for range 3 {
			if a := w.ask(t, s.URL(run), []Message{user(Mark("ever"))}, shell, stream); a.status != 401 {
				t.Errorf("status %d, want 401", a.status)
			}
		}
	})
}

func TestErrorBodiesNameTheTroubleTheWayEachAPIDoes(t *testing.T) {
	s := start(t, Options{})
	s.SetScenario("e", Scenario{Steps: []Step{{Fail: &Fail{Status: 429, Message: "slow down",
		Header: map[string]string{"Retry-After": "7"}}}}})
	want := map[string]string{"messages": "rate_limit_error", "responses": "rate_limit_exceeded",
		"chat": "rate_limit_exceeded", "gemini": "RESOURCE_EXHAUSTED"}
	for _, w := range wires {
		resp := post(t, s.URL("e")+w.path(false), w.build([]Message{user(Mark(""))}, shell, false))
		var v obj
		err := json.NewDecoder(resp.Body).Decode(&v)
		resp.Body.Close()
		if text := compact(v); err != nil || resp.StatusCode != http.StatusTooManyRequests ||
			resp.Header.Get("Retry-After") != "7" || !strings.Contains(text, want[w.name]) ||
			!strings.Contains(text, "slow down") {
			t.Errorf(`%s: resp.StatusCode = %d, compact(v) = %s, error %v; want no error, resp.StatusCode = `+
				`http.StatusTooManyRequests, resp.Header.Get("Retry-After") = "7", want[w.name] in text and "slow down" in text`,
				w.name, resp.StatusCode, text, err)
		}
	}
}

func TestStartUpQuestions(t *testing.T) {
	s := start(t, Options{})
	for path, want := range map[string]string{"/v1/models": "scripted", "/v1beta/models": "supportedGenerationMethods",
		"/models/": `"data"`, "/v1/models/my-model": "my-model"} {
		if code, body := get(t, s.URL("s")+path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("GET %s: code = %d, body = %s; want code = 200 and %q in body", path, code, body, want)
		}
	}
	for path, want := range map[string]int{"/v1/messages/count_tokens": 200, "/v1beta/models/x:countTokens": 200,
		"/v1/responses/compact": 200, "/telemetry": 404, "/v1/messages": 200} {
		resp := post(t, s.URL("s")+path, obj{"messages": []obj{{"role": "user", "content": "hi"}}})
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("POST %s: resp.StatusCode = %d, want %v", path, resp.StatusCode, want)
		}
	}
	resp := post(t, s.URL("s")+"/v1/messages", "no object")
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a broken request: %d", resp.StatusCode)
	}
	head, err := http.Head(s.URL("s"))
	if err != nil || head.StatusCode != http.StatusOK {
		t.Errorf("HEAD: head = %+v, error %v; want no error and head.StatusCode = http.StatusOK", head, err)
	}
	if head != nil {
		head.Body.Close()
	}
}

func TestRunsDoNotMix(t *testing.T) {
	s := start(t, Options{})
	w := wires[0]
	for _, r := range []string{"a", "b/with slash", "ü"} {
		s.SetScenario(r, Scenario{Steps: []Step{{Say: "I am " + r}}})
		if a := w.ask(t, s.URL(r), []Message{user("secret of " + r + Mark(""))}, shell, true); a.text != "I am "+r {
			t.Errorf(`%s got %q; want a.text == "I am "+r`, r, a.text)
		}
	}
	if s.Saw("a", "secret of b") || !s.Saw("b/with slash", "secret of b") {
		t.Error(`runs mix; want !s.Saw("a", "secret of b") and s.Saw("b/with slash", "secret of b")`)
	}
}

func TestSameThingToldTwiceCountsTwice(t *testing.T) {
	s := start(t, Options{})
	w := wires[0]
	h := []Message{user(Mark("")), user("note from a hook")}
	w.ask(t, s.URL("r"), h, shell, false)
	w.ask(t, s.URL("r"), append(h, user("note from a hook")), shell, false)
	if n := s.SawTimes("r", "note from a hook"); n != 2 {
		t.Errorf("counted %d times, want 2", n)
	}
}

func TestStructuredSideQueries(t *testing.T) {
	s := start(t, Options{})
	schema := obj{"type": "object", "properties": obj{"title": obj{"type": "string"}, "ok": obj{"type": "boolean"},
		"n":    obj{"type": []string{"integer", "null"}},
		"kind": obj{"enum": []string{"x", "y"}}, "list": obj{"type": "ARRAY"},
		"either": obj{"anyOf": []obj{{"type": "object", "properties": obj{"a": obj{"const": 3}}}}}}}
	msgs := []obj{{"role": "user", "content": "title? " + Mark("")}}
	for name, c := range map[string]struct {
		path string
		body obj
	}{
		"messages":  {"/v1/messages", obj{"messages": msgs, "output_config": obj{"format": obj{"type": "json_schema", "schema": schema}}}},
		"responses": {"/responses", obj{"input": "title?", "text": obj{"format": obj{"type": "json_schema", "schema": schema}}}},
		"chat":      {"/chat/completions", obj{"messages": msgs, "response_format": obj{"type": "json_schema", "json_schema": obj{"schema": schema}}}},
		"gemini":    {"/v1beta/models/m:generateContent", obj{"contents": []obj{}, "generationConfig": obj{"responseSchema": schema}}},
	} {
		resp := post(t, s.URL("r")+c.path, c.body)
		var v obj
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, w := range wires {
			if w.name != name {
				continue
			}
			var got struct {
				Title, Kind string
				OK          bool
				N           int
				List        []any
				Either      struct{ A int }
			}
			if err := json.Unmarshal([]byte(w.whole(v).text), &got); err != nil || got.Title != sideText || !got.OK ||
				got.N != 1 || got.Kind != "x" || got.List == nil || got.Either.A != 3 {
				t.Errorf(`%s: compact(v) = %s, error %v; want no error, got.Title = %q, got.OK, got.N = 1, got.Kind `+
					`= "x", got.List other than nil and got.Either.A = 3`, name, compact(v), err, sideText)
			}
		}
	}
	resp := post(t, s.URL("r")+"/chat/completions",
		obj{"messages": []obj{{"role": "user", "content": "pick"}},
			"tool_choice": obj{"type": "function", "function": obj{"name": "answer"}},
			"tools":       []obj{{"type": "function", "function": obj{"name": "answer", "parameters": schema}}}})
	defer resp.Body.Close()
	var v obj
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	if a := wires[2].whole(v); len(a.calls) != 1 || a.calls[0].ToolName != "answer" ||
		!strings.Contains(a.calls[0].Text, sideText) {
		t.Errorf(`forced tool: %+v; want len(a.calls) == 1, a.calls[0].ToolName == "answer" and sideText in `+
			`a.calls[0].Text`, a)
	}
}

func TestVariablesNamespacesAndFreeForm(t *testing.T) {
	s := start(t, Options{})
	s.SetScenario("r", Scenario{
		Vars: map[string]*regexp.Regexp{"PLAN": regexp.MustCompile(`plan file (/[a-z/]+\.md)`)},
		Steps: []Step{{Say: "see ${PLAN} ${UNKNOWN}", Calls: []ToolCall{
			Call("shell", obj{"path": "${PLAN}"}),
			{Name: "apply_patch", Custom: true, Input: json.RawMessage(`"*** Begin\n*** End"`)},
			{Name: "echo", Namespace: "mcp__lab"},
		}}},
	})
	w := wires[1]
	a := w.ask(t, s.URL("r"), []Message{user("the plan file /tmp/a.md " + Mark("")), user("plan file /tmp/b.md")},
		shell, true)
	if a.text != "see /tmp/b.md ${UNKNOWN}" || len(a.calls) != 3 || a.calls[0].Text != `{"path":"/tmp/b.md"}` {
		t.Errorf(`a = %+v, want a.text = "see /tmp/b.md ${UNKNOWN}", len(a.calls) = 3 and a.calls[0].Text = `+
			`{"path":"/tmp/b.md"}`, a)
	}
	if a.calls[1].Kind != "custom" || a.calls[1].Text != "*** Begin\n*** End" || a.calls[2].Text != "{}" {
		t.Errorf(`a.calls = %+v, want a.calls[1].Kind = "custom", a.calls[1].Text = "*** Begin\n*** End" and `+
			`a.calls[2].Text = "{}"`, a.calls)
	}
	if q := s.Requests("r"); fmt.Sprint(q[0].NotOffered) != "[apply_patch]" {
		t.Errorf(`not offered: %v; want fmt.Sprint(q[0].NotOffered) == "[apply_patch]"`, q[0].NotOffered)
	}
}

func TestWaitAndCloseWhileStreaming(t *testing.T) {
	s := start(t, Options{Delay: time.Millisecond})
	s.SetScenario("r", Scenario{Steps: []Step{{Say: strings.Repeat("slow ", 100), ChunkDelay: time.Hour}}})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		resp, err := http.Post(s.URL("r")+"/v1/messages", "application/json",
			strings.NewReader(compact(buildMessages([]Message{user(Mark(""))}, shell, true))))
		if err == nil {
			buf := make([]byte, 1<<16)
			for err == nil {
				_, err = resp.Body.Read(buf)
			}
			resp.Body.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Wait(ctx, "r", func(q []Request) bool { return len(q) > 0 }); err != nil {
		t.Fatal(err)
	}
	short, cancel2 := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel2()
	if err := s.Wait(short, "r", func([]Request) bool { return false }); err == nil {
		t.Error("Wait came back without the thing it waits for")
	}
	s.Close() // must end the stream that sleeps for an hour
	<-gone
}

// Instructions stand in front of a conversation; the same role amid it is news.
func TestStandingInstructions(t *testing.T) {
	s := start(t, Options{})
	w := wires[0]
	say := func(text string) Message { return Message{Role: RoleSystem, Kind: KindText, Text: text} }
	w.ask(t, s.URL("r"), []Message{say("be good"), user(Mark("")), say("by the way")}, shell, false)
	got := map[string]bool{}
	for _, m := range s.Told("r") {
		got[m.Text] = m.Standing
	}
	if !got["be good"] || got["by the way"] || len(got) < 3 {
		t.Errorf(`got %+v, want got["be good"], not got["by the way"] and len(got) at least 3`, got)
	}
}
