//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// An installed client sends its call before it knows who listens, and believes
// nobody who does not run the installed hookmux: neither at once nor later.
func TestInstalledClientBelievesNoImpostor(t *testing.T) {
	w := newWorld(t)
	base := filepath.Dir(w.dirs.Runtime)
	client := filepath.Join(base, "hookmux-hook")
	passwd := filepath.Join(base, "passwd")
	build := exec.Command("go", "build", "-trimpath", "-ldflags",
		"-s -w -X github.com/hookmux/hookmux/internal/platform/paths.passwdFile="+passwd, "-o", client, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := w.listen(func(conn net.Conn, r frame.Request, _ int) {
		_, _ = conn.Write(frame.AppendReply(nil, &frame.Reply{ID: r.ID, Stdout: []byte("believed")}))
	})
	// The program beside the client is the one that is believed, whatever the record
	// says. A daemon that cannot be started: what matters is that nobody else is believed.
	beside := filepath.Join(base, "hookmux")
	nobody := filepath.Join(base, "nobody")
	if err := os.WriteFile(nobody, []byte("#!/bin/false\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		beside   string // what the program beside the client is
		record   string // what the record says that it is
		runtime  string // where the record says that the daemon is
		believed bool
	}{
		"the installed hookmux listens":                  {self, beside, w.dirs.Runtime, true},
		"the record names another program":               {self, "/bin/sh", w.dirs.Runtime, true},
		"another program listens":                        {nobody, beside, w.dirs.Runtime, false},
		"another program listens, and the record has it": {nobody, self, w.dirs.Runtime, false},
	} {
		_ = os.Remove(beside)
		if err := os.Symlink(c.beside, beside); err != nil {
			t.Fatal(err)
		}
		user := fmt.Sprintf("me:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), base)
		if err := os.WriteFile(passwd, []byte(user), 0o600); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(base, ".local/state/hookmux/installation")
		text := "hookmux installation 1\nhome=" + base + "\nruntime=" + c.runtime + "\nstate=" + base +
			"/state\nconfig=" + base + "/config\ndata=" + base + "/data\nhook=" + client + "\nprogram=" + c.record
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		// The places of this test are not the default ones, so that the record is sealed.
		key := strings.Repeat("k", 32)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "consent.key"), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		text += "\nseal=" + paths.PlainMAC([]byte(key), "installation\x00"+text) + "\nend\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := len(h.requests())
		cmd := exec.Command(client, agent, deciding, "5")
		cmd.Env = w.env
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse"}`)
		out, _ := cmd.Output() // what it answers without a daemon is another test's business
		if believed := string(out) == "believed"; believed != c.believed {
			t.Errorf("%s: the client said %q; believed is %v, want %v", name, out, believed, c.believed)
		}
		if len(h.requests()) == before {
			t.Errorf("%s: nobody was asked; this test tests nothing", name)
		}
	}
}
