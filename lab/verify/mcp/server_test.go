package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(t *testing.T, s *Server, body string) *http.Response {
	t.Helper()
	r, err := http.Post(s.URL, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	return r
}

// next returns the next message of a stream.
func next(t *testing.T, lines *bufio.Scanner) (m struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Mode, Message, URL string
		RequestedSchema    struct{ Properties map[string]any }
	}
	Result struct{ Content []struct{ Text string } }
}) {
	t.Helper()
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatal("the stream ended")
	return m
}

func TestAsksAndTells(t *testing.T) {
	for _, c := range []struct {
		tag, mode string
		fields    int
		said      string
		want      string
	}{
		{"form-a", "form", 4, `"result":{"action":"accept","content":{"sure":true,"colour":"red"}}`, `heard form-a: accept {"colour":"red","sure":true}`},
		{"form-b", "form", 4, `"result":{"action":"decline"}`, "heard form-b: decline"},
		{Bare + "c", "form", 0, `"result":{"action":"accept","content":{}}`, "heard bare-c: accept {}"},
		{Link + "d", "url", 0, `"error":{"code":-1}`, `heard link-d: error {"code":-1}`},
	} {
		s := start(t)
		call := post(t, s, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","arguments":{"tag":"`+
			c.tag+`"}}}`)
		lines := bufio.NewScanner(call.Body)
		asked := next(t, lines)
		if asked.Method != "elicitation/create" || asked.Params.Mode != c.mode ||
			asked.Params.Message != Message(c.tag) || len(asked.Params.RequestedSchema.Properties) != c.fields {
			t.Errorf(`%s: asked = %+v, want asked.Method = "elicitation/create", asked.Params.Mode = %q, `+
				`asked.Params.Message = Message(c.tag) and len(asked.Params.RequestedSchema.Properties) = %v`,
				c.tag, asked, c.mode, c.fields)
		}
		if (asked.Params.URL == Address) != (c.mode == "url") {
			t.Errorf(`%s: asked.Params.URL = %q, want (asked.Params.URL == Address) = (c.mode == "url")`,
				c.tag, asked.Params.URL)
		}
		for range 2 { // a second answer is nobody's
			if r := post(t, s, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,`+c.said+
				`}`); r.StatusCode != http.StatusAccepted {
				t.Errorf("r.Status = %q, want r.StatusCode = http.StatusAccepted", r.Status)
			}
		}
		if told := next(t, lines); string(told.ID) != "7" || len(told.Result.Content) != 1 ||
			told.Result.Content[0].Text != c.want {
			t.Errorf(`%s: told = %+v, want string(told.ID) = "7", len(told.Result.Content) = 1 and `+
				`told.Result.Content[0].Text = %q`, c.tag, told, c.want)
		}
	}
}

func TestSaysWhatItIs(t *testing.T) {
	s := start(t)
	for body, want := range map[string]string{
		`{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`: `"protocolVersion":"2025-11-25"`,
		`{"id":2,"method":"tools/list"}`:                                           `"name":"ask"`,
		`{"id":3,"method":"resources/list"}`:                                       `"result":{}`,
	} {
		b, err := io.ReadAll(post(t, s, body).Body)
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: b = %s, error %v; want no error and %q in string(b)", body, b, err, want)
		}
	}
	if r := post(t, s, `{"method":"notifications/initialized"}`); r.StatusCode != http.StatusAccepted {
		t.Errorf("r.Status = %q, want r.StatusCode = http.StatusAccepted", r.Status)
	}
	if r := post(t, s, `nonsense`); r.StatusCode != http.StatusBadRequest {
		t.Errorf("r.Status = %q, want r.StatusCode = http.StatusBadRequest", r.Status)
	}
	if r, err := http.Get(s.URL); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("r = %+v, error %v; want no error and r.StatusCode = http.StatusMethodNotAllowed", r, err)
	} else {
		r.Body.Close()
	}
}
