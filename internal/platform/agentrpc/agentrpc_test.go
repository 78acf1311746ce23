package agentrpc

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// scripted is a server that says given messages.
type scripted struct {
	sent    []string
	answers []string
}

func (s *scripted) Send(message []byte) error {
	s.sent = append(s.sent, string(message))
	return nil
}

func (s *scripted) Receive() ([]byte, error) {
	if len(s.answers) == 0 {
		return nil, io.EOF
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return []byte(next), nil
}

func TestCall(t *testing.T) {
	for _, c := range []struct {
		what    string
		answers []string
		got     string
		wrong   string
	}{
		{"behind other messages", []string{"starting …\n", `{"method":"news"}`, `{"id":2,"method":"ask"}`,
			`{"id":"2","result":{"word":"other"}}`, `{"id":2,"result":{"word":"ours"}}`}, "ours", ""},
		{"refused", []string{`{"id":2,"error":{"message":"unknown thread"}}`}, "", "hooks/list: unknown thread"},
		{"unreadable", []string{`{"id":2,"result":7}`}, "", "hooks/list: the answer cannot be read"},
		{"never", strings.Split(strings.Repeat(`{"id":1}`+"\n", maxPassed+1), "\n"), "", "gives no answer"},
		{"gone", nil, "", "hooks/list: EOF"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := &scripted{answers: append([]string{`{"id":1,"result":{}}`}, c.answers...)}
			client, err := Connect(s)
			if err != nil {
				t.Fatal(err)
			}
			var result struct{ Word string }
			err = client.Call("hooks/list", map[string]int{"n": 1}, &result)
			if result.Word != c.got || c.wrong == "" && err != nil || !strings.Contains(fmt.Sprint(err), c.wrong) {
				t.Errorf("got %q and %v, want %q and %q", result.Word, err, c.got, c.wrong)
			}
			want := []string{`{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"clientInfo":{"name":"hookmux",` +
				`"title":"hookmux","version":"1"}}}`, `{"jsonrpc":"2.0","method":"initialized"}`,
				`{"id":2,"jsonrpc":"2.0","method":"hooks/list","params":{"n":1}}`}
			if fmt.Sprint(s.sent) != fmt.Sprint(want) {
				t.Errorf("sent %s, want %s", s.sent, want)
			}
		})
	}
}
