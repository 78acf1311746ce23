package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// post is a request that a server was sent.
type post struct {
	path, signature string
	body            []byte
}

// hookServer answers with codes in turn, the last one for ever.
type hookServer struct {
	*httptest.Server
	mu    sync.Mutex
	codes []int
	posts []post
}

func startServer(t *testing.T, codes ...int) *hookServer {
	s := &hookServer{codes: codes}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.posts = append(s.posts, post{r.URL.Path, r.Header.Get(signatureHeader), b})
		code := s.codes[0]
		if len(s.codes) > 1 {
			s.codes = s.codes[1:]
		}
		if code == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *hookServer) all() []post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]post(nil), s.posts...)
}

func (s *hookServer) webhook(change func(*webhookSettings)) *webhook {
	settings := webhookSettings{address: s.URL + "/hook", format: "json"}
	if change != nil {
		change(&settings)
	}
	return newWebhook(func() webhookSettings { return settings })
}

func sample() *Notice {
	item := request(nil)
	item.Cwd, item.Tool = "/home/me/shop", "Bash"
	n := requestNotice(&item, "Claude Code", false)
	n.CanShow = true
	return &n
}

func TestWebhookIsSigned(t *testing.T) {
	s := startServer(t, 200)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("of mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := s.webhook(func(c *webhookSettings) { c.secret = "file:" + key })
	at := time.Unix(1_700_000_000, 0)
	w.now = func() time.Time { return at }
	if err := w.show(context.Background(), sample()); err != nil {
		t.Fatal(err)
	}
	got := s.all()[0]
	if want := signBody("of mine", at, got.body); got.signature != want ||
		!strings.HasPrefix(want, "t=1700000000,v1=") {
		t.Errorf("signature %q, want %q", got.signature, want)
	}
	if other := signBody("of others", at, got.body); other == got.signature {
		t.Error("another key signs the same")
	}
	var said posted
	if err := json.Unmarshal(got.body, &said); err != nil || said.Title != "Claude Code asks for permission" ||
		said.Text != "Bash in shop · r1" || said.Event != "notice" || said.Request != "r1" {
		t.Errorf(`posted %s (%v); want no error, said.Title == "Claude Code asks for permission", said.Text `+
			`== "Bash in shop · r1", said.Event == "notice" and said.Request == "r1"`, got.body, err)
	}
}

func TestWebhookFormats(t *testing.T) {
	n := sample()
	n.Title, n.Body = "<!channel> *x* `y`", "@everyone <b>& /stop"
	for format, c := range map[string]struct {
		path  string
		want  []string
		never []string
	}{
		"slack":    {"/hook", []string{`"text"`, `\u0026lt;!channel\u0026gt;`, `"unfurl_links":false`}, []string{"<!channel", `\u003c!channel`, "`"}},
		"discord":  {"/hook", []string{`"allowed_mentions":{"parse":[]}`, `\\*x\\*`, `"flags":4`}, nil},
		"telegram": {"/hook", []string{`"chat_id":"42"`, `"is_disabled":true`}, []string{"parse_mode", "@", " /stop"}},
		"ntfy":     {"/", []string{`"topic":"hook"`, `"priority":4`}, nil},
		"json":     {"/hook", []string{`"kind":"permission"`}, nil},
	} {
		s := startServer(t, 200)
		w := s.webhook(func(c *webhookSettings) { c.format, c.chat = format, "42" })
		if err := w.show(context.Background(), n); err != nil {
			t.Errorf("%s: posting failed: %v", format, err)
			continue
		}
		got := s.all()[0]
		if got.path != c.path || !json.Valid(got.body) {
			t.Errorf("%s: posted %s to %s, want %s", format, got.body, got.path, c.path)
		}
		for _, want := range c.want {
			if !strings.Contains(string(got.body), want) {
				t.Errorf("%s: %s does not hold %s", format, got.body, want)
			}
		}
		for _, never := range c.never {
			if strings.Contains(string(got.body), never) {
				t.Errorf("%s: %s holds %s; want no never in string(got.body)", format, got.body, never)
			}
		}
	}
}

// runQueue works through one job and gives how long it rested before each attempt.
func runQueue(c channel, over func() bool) (l *channelQueue, rests []time.Duration) {
	l = newChannelQueue("webhook", c)
	l.rest = func(_ context.Context, span time.Duration) bool {
		rests = append(rests, span)
		return false
	}
	if over != nil {
		l.isOver = func(*Notice) bool { return over() }
	}
	l.work(context.Background(), &job{notice: *sample()})
	return l, rests
}

func TestWebhookIsTriedAgain(t *testing.T) {
	s := startServer(t, 503, 429, 200)
	l, rests := runQueue(s.webhook(nil), nil)
	if state := l.current(); state.told != 1 || state.last != nil || len(rests) != 2 || rests[1] <= rests[0] {
		t.Errorf("state %+v after rests %v, want told after two growing rests", state, rests)
	}
	// Not for ever, and not what another attempt does not change.
	for code, attempts := range map[int]int{500: len(retryAfter) + 1, 403: 1, 302: 1} {
		s := startServer(t, code)
		l, _ := runQueue(s.webhook(nil), nil)
		if state := l.current(); state.failed != 1 || state.last == nil || len(s.all()) != attempts {
			t.Errorf("%d: state %+v after %d attempts, want a failure after %d", code, state, len(s.all()), attempts)
		}
	}
	// Not for a request that was answered meanwhile.
	s = startServer(t, 500)
	l, _ = runQueue(s.webhook(nil), func() bool { return len(s.all()) == 2 })
	if state := l.current(); len(s.all()) != 2 || state.last != nil {
		t.Errorf("%d attempts, state %+v; want two, and nothing to report", len(s.all()), state)
	}
}

// What a server answers is not read: it may go on for ever.
func TestWebhookAnswersAreNotRead(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("more and more"))
		_ = http.NewResponseController(w).Flush()
		<-over
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	w := newWebhook(func() webhookSettings { return webhookSettings{address: server.URL, format: "json"} })
	if err := w.show(context.Background(), sample()); err != nil {
		t.Errorf("error %v, want none as soon as the server says 200", err)
	}
}

func TestWebhookErrorsHoldNoAddress(t *testing.T) {
	w := newWebhook(func() webhookSettings {
		return webhookSettings{address: "http://127.0.0.1:1/T0KEN?key=T0KEN", format: "json"}
	})
	err := w.show(context.Background(), sample())
	var passing *passingError
	if err == nil || !errors.As(err, &passing) || strings.Contains(err.Error(), "T0KEN") {
		t.Errorf("error %v, want one without the address that may pass", err)
	}
}
