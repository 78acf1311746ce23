package tshook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/tshook/bundle"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/ops"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// sidecar is the Node process of one file whose first comment says `runtime: node`. It uses
// the engine's protocol in lines: jobs on stdin, questions and answers on file descriptor 3, so
// that stdout stays free for what the file prints. Node accesses files and processes directly,
// so the record shows only that it was started.
type sidecar struct {
	ops   *ops.Operations
	owner *fileOwner
	cmd   *exec.Cmd
	dir   string
	slice time.Duration

	writing sync.Mutex
	stdin   io.WriteCloser

	mu      sync.Mutex
	pending map[int]chan<- engine.Outcome
	next    int
	ended   error
	pongs   map[int]chan struct{}
	done    chan struct{}
}

// runnerText returns the program Node runs.
func runnerText() (string, error) {
	var text strings.Builder
	for _, name := range []string{"sidecar/10-base.js", "packages/10-typebox.js", "packages/20-pi.js",
		"core/20-session.js", "core/30-events.js", "sidecar/90-loop.js"} {
		piece, err := engine.ReadScript(name)
		if err != nil {
			return "", err
		}
		text.Write(piece)
		if name == "packages/20-pi.js" {
			text.WriteString("made.packages = globalThis.__part(shared);\n")
		}
	}
	return text.String(), nil
}

func startSidecar(host *Host, v *fileOwner, b *bundle.Bundle) (*sidecar, error) {
	program := host.Node
	if program == "" {
		var err error
		if program, err = exec.LookPath("node"); err != nil {
			if host.Inspect != nil {
				return nil, errors.New("a debugger needs Node, and node is not on PATH; install Node.js")
			}
			return nil, errors.New("it asks for `runtime: node`, and node is not on PATH; install Node.js or take " +
				"that line out")
		}
	}
	dir, err := os.MkdirTemp("", "hookmux-node-")
	if err != nil {
		return nil, err
	}
	text, err := runnerText()
	code := b.Code
	if host.Inspect != nil {
		code += "\n" + b.InlineMap(dirOf(v.m.path)) + "\n" // debuggers show the source file
	}
	for name, content := range map[string]string{"run.mjs": text, bundle.NameInEngine + ".mjs": code} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)
		}
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	s := &sidecar{ops: ops.New(v), owner: v, dir: dir, slice: host.Limits.Slice,
		pending: map[int]chan<- engine.Outcome{}, pongs: map[int]chan struct{}{}, done: make(chan struct{})}
	s.ops.Attach(s)
	var args []string
	if host.Inspect != nil {
		args = []string{"--inspect-brk=127.0.0.1:0"} // the system chooses a free port
	}
	s.cmd = exec.Command(program, append(args, filepath.Join(dir, "run.mjs"))...)
	s.cmd.Dir = dirOf(v.m.path)
	s.cmd.Env = append(os.Environ(), v.ChildEnv()...)
	s.cmd.ExtraFiles = []*os.File{w}
	s.cmd.Stdout, s.cmd.Stderr = outputWriter{v, "log"}, outputWriter{v, "error"}
	if host.Inspect != nil {
		s.cmd.Stderr = host.Inspect
	}
	s.cmd.WaitDelay = time.Second
	ops.OwnGroup(s.cmd)
	if s.stdin, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	_ = w.Close()
	v.RecordAction("", "exec", program+" (for the whole hook)", err)
	if err != nil {
		_ = r.Close()
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("node: %w", err)
	}
	go s.readLines(r)
	return s, nil
}

type outputWriter struct {
	v     *fileOwner
	level string
}

func (p outputWriter) Write(b []byte) (int, error) {
	p.v.RecordConsole(p.level, string(bytes.TrimRight(b, "\n")))
	return len(b), nil
}

func (s *sidecar) readLines(r io.ReadCloser) {
	defer close(s.done)
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), 64<<20)
	for lines.Scan() {
		var said struct {
			Op    string          `json:"op"`
			Start int             `json:"start"`
			Args  json.RawMessage `json:"args"`
			Key   string          `json:"key"`
		}
		if json.Unmarshal(lines.Bytes(), &said) != nil {
			continue
		}
		switch {
		case said.Op == "pong":
			var id int
			_ = json.Unmarshal(said.Args, &id)
			s.mu.Lock()
			if pong := s.pongs[id]; pong != nil {
				close(pong)
				delete(s.pongs, id)
			}
			s.mu.Unlock()
		case said.Start != 0:
			s.ops.Start(said.Start, said.Op, said.Args, said.Key)
		default:
			_ = s.ops.Call(said.Op, said.Args) // nothing waits for the answer
		}
	}
	_ = r.Close()
	s.ops.Close()
	err := s.cmd.Wait()
	why := "node ended"
	if err != nil {
		why += ": " + err.Error()
	}
	s.endAll(errors.New(why))
	_ = os.RemoveAll(s.dir)
}

func (s *sidecar) writeLine(kind string, id int, text string) {
	b := pi.Encode(pi.Object{"kind": kind, "id": id, "json": text})
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.stdin.Write(append(b, '\n')) // readLines notices when Node is gone
}

func (s *sidecar) Ask(kind, text string, note func(int)) (int, <-chan engine.Outcome) {
	answer := make(chan engine.Outcome, 1)
	s.mu.Lock()
	if s.ended != nil {
		s.mu.Unlock()
		answer <- engine.Outcome{Err: engine.ErrNotRun}
		return 0, answer
	}
	s.next++
	id := s.next
	s.pending[id] = answer
	s.mu.Unlock()
	if note != nil {
		note(id)
	}
	if kind == "load" {
		settings := pi.ParseObject([]byte(text))
		settings["file"] = "file://" + filepath.Join(s.dir, bundle.NameInEngine+".mjs")
		text = string(pi.Encode(settings))
	}
	s.writeLine(kind, id, text)
	return id, answer
}

func (s *sidecar) Post(kind string, id int, text string) { s.writeLine(kind, id, text) }

// Forget gives up on an answer. It kills a Node that doesn't answer a ping: a handler's
// endless loop blocks all other events.
func (s *sidecar) Forget(id int) {
	pong := make(chan struct{})
	s.mu.Lock()
	delete(s.pending, id)
	s.pongs[id] = pong
	s.mu.Unlock()
	go func() {
		s.writeLine("abandon", id, "")
		s.writeLine("ping", id, "")
		select {
		case <-pong:
		case <-s.done:
		case <-time.After(s.slice):
			s.endAll(engine.SliceError{Limit: s.slice})
			ops.SignalGroup(s.cmd, "SIGKILL")
		}
	}()
}

func (s *sidecar) IsQueueFull() bool { return false } // Node starts its processes itself

func (s *sidecar) Reply(id int, body []byte) { s.writeLine("reply", id, string(body)) }

func (s *sidecar) Answered(id int, o engine.Outcome) {
	s.mu.Lock()
	answer := s.pending[id]
	delete(s.pending, id)
	s.mu.Unlock()
	if answer != nil {
		answer <- o
	}
}

func (s *sidecar) endAll(why error) {
	s.mu.Lock()
	if s.ended == nil {
		s.ended = why
	}
	pending := s.pending
	s.pending = map[int]chan<- engine.Outcome{}
	s.mu.Unlock()
	for _, answer := range pending {
		answer <- engine.Outcome{Err: why}
	}
}

func (s *sidecar) Close() {
	s.endAll(engine.ErrClosed)
	_ = s.stdin.Close()
	select {
	case <-s.done:
	case <-time.After(time.Second):
		ops.SignalGroup(s.cmd, "SIGKILL")
		<-s.done
	}
}

func (s *sidecar) Why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Node has no time slice and loads its parts itself.
func (s *sidecar) DropAfter(error)       {}
func (s *sidecar) RunUnwatched(f func()) { f() }
func (s *sidecar) LoadPart(string) error { return nil }
func (s *sidecar) Slice() time.Duration  { return s.slice }
