package server

import (
	"os"
	"testing"
	"time"
)

// Whoever stands where the socket was keeps callers away: the daemon must notice.
func TestSocketThatIsNotOursIsNoticed(t *testing.T) {
	for name, replace := range map[string]func(socket string) error{
		"nothing":  func(string) error { return nil },
		"a file":   func(socket string) error { return os.WriteFile(socket, nil, 0o600) },
		"a folder": func(socket string) error { return os.Mkdir(socket, 0o700) },
	} {
		s := startServer(t, nil)
		if !s.InPlace() {
			t.Fatalf("%s: its own socket is not in place", name)
		}
		socket := s.Deps.Dirs.Socket()
		if err := os.Remove(socket); err != nil {
			t.Fatal(err)
		}
		if err := replace(socket); err != nil {
			t.Fatal(err)
		}
		if s.InPlace() {
			t.Errorf("%s stands where the socket was, and that is not noticed", name)
		}
	}
}

// A daemon whose descriptors were taken away makes room for another.
func TestServerThatCanLetNobodyInGivesUp(t *testing.T) {
	why := make(chan string, 10)
	s := startServer(t, func(s *Server) { s.GiveUp = func(text string) { why <- text } })
	s.noteFailing()
	s.noteFailing()
	if len(why) != 0 {
		t.Errorf("gave up at once: %s", <-why)
	}
	s.failing.Store(time.Now().Add(-failTime - time.Minute).UnixNano())
	s.noteFailing()
	if len(why) != 1 {
		t.Errorf("gave up %d times after %v; want once", len(why), failTime)
	}
	s.failing.Store(time.Now().Add(-time.Hour).UnixNano())
	if _, err := sendHook(s, "payload"); err != nil {
		t.Fatal(err)
	}
	if since := s.failing.Load(); since != 0 {
		t.Error("a call was let in, and the trouble from before still counts")
	}
}
