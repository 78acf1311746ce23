package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
)

// store is an agent's store in a temporary home.
type store struct {
	t    *testing.T
	home string
	dir  string
	spec *agent.TranscriptSpec
}

func newStore(t *testing.T, name string) *store {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok {
		t.Fatalf("name = %q: got ok = false, want true", name)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := a.Status.Transcript
	dir := filepath.Join(home, strings.TrimPrefix(spec.Root, "~/"), "-project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &store{t, home, dir, &spec}
}

func (s *store) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *store) add(path, text string) {
	s.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) open(session, path string) (*Reader, error) {
	return Open(s.spec, session, path, Env{Home: s.home})
}

func (s *store) must(session, path string) *Reader {
	s.t.Helper()
	r, err := s.open(session, path)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func read(t *testing.T, r *Reader) string {
	t.Helper()
	facts, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range facts {
		word := string(f.Kind) + ":" + f.Text
		if f.Early {
			word += "(early)"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func saidRow(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`+"\n",
		text)
}

func TestTailFollows(t *testing.T) {
	s := newStore(t, "claude")
	path := s.write("s1.jsonl", saidRow("one"))
	r := s.must("s1", path)
	for _, step := range []struct {
		name, add, want string
	}{
		{"what is there", "", "message:one"},
		{"nothing new", "", ""},
		{"a row", saidRow("two"), "message:two"},
		{"half a row", `{"type":"assistant","message":{"role":"assis`, ""},
		{"its other half", `tant","content":"three"}}` + "\n", "message:three"},
		{"flat rows", `{"role":"assistant","content":"four"}` + "\n" + `{"role":"assistant","content":[{"type":"text","text":"five"}]}` + "\n", "message:four message:five"},
		{"rubbish", "\n\n{\n{}\n[]\nnull\n\"x\"\n{\"type\":}\n\x00\xff\n" + saidRow("six"), "message:six"},
		{"a title", `{"type":"custom-title","customTitle":"T"}` + "\n", "title:T"},
		{"an interrupt", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n", "interrupted:"},
	} {
		s.add(path, step.add)
		if got := read(t, r); got != step.want {
			t.Errorf("%s: %q, should be %q", step.name, got, step.want)
		}
	}
}

func TestTailOfReplacedFiles(t *testing.T) {
	s := newStore(t, "claude")
	path := s.write("s1.jsonl", saidRow("one")+saidRow("two"))
	r := s.must("s1", path)
	read(t, r)
	// Cut.
	s.write("s1.jsonl", saidRow("new"))
	if got := read(t, r); got != "message:new" {
		t.Errorf(`cut: %q, want "message:new"`, got)
	}
	// Replaced by another file of the same length.
	other := s.write("other", saidRow("oth"))
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if got := read(t, r); got != "message:oth" {
		t.Errorf(`replaced: %q, want "message:oth"`, got)
	}
	// Written anew within the same file, and longer.
	s.write("s1.jsonl", saidRow("another")+saidRow("record"))
	if got := read(t, r); got != "message:another message:record" {
		t.Errorf(`anew: %q, want "message:another message:record"`, got)
	}
	// Gone, and back.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("gone: %v; want err to be os.ErrNotExist", err)
	}
	s.write("s1.jsonl", saidRow("back"))
	if got := read(t, r); got != "message:back" {
		t.Errorf(`back: %q, want "message:back"`, got)
	}
}

// A record larger than the windows: the beginning and the end are read.
func TestTailOfALargeRecord(t *testing.T) {
	s := newStore(t, "claude")
	var b strings.Builder
	b.WriteString(`{"type":"user","message":{"role":"user","content":"the first prompt"}}` + "\n")
	for b.Len() < 2<<20 {
		b.WriteString(`{"type":"progress","padding":"` + strings.Repeat("x", 1000) + "\"}\n")
	}
	b.WriteString(saidRow("the last words"))
	path := s.write("s1.jsonl", b.String())
	r := s.must("s1", path)
	if got := read(t, r); got != "prompt:the first prompt(early) message:the last words" {
		t.Errorf(`read(t, r) = %q, want "prompt:the first prompt(early) message:the last words"`, got)
	}
	// So much was added at once that only its end counts.
	s.add(path, b.String()[:1500<<10]+"\n"+saidRow("newest"))
	if got := read(t, r); got != "message:newest" {
		t.Errorf(`read(t, r) = %q, want "message:newest"`, got)
	}
}

// A row that is too long is passed over, in one piece or in many.
func TestHugeRows(t *testing.T) {
	s := newStore(t, "claude")
	huge := saidRow(strings.Repeat("x", maxRow+10))
	path := s.write("s1.jsonl", saidRow("a")+huge+saidRow("b"))
	if got := read(t, s.must("s1", path)); got != "message:a(early) message:b" {
		t.Errorf(`read(t, s.must("s1", path)) = %q, want "message:a(early) message:b"`, got)
	}
	path = s.write("s2.jsonl", saidRow("a"))
	r := s.must("s2", path)
	read(t, r)
	for _, piece := range []string{huge[:maxRow/2], huge[maxRow/2 : maxRow+5], huge[maxRow+5:]} {
		s.add(path, piece)
		if got := read(t, r); got != "" {
			t.Errorf(`got[:20] = %q, want ""`, got[:20])
		}
	}
	s.add(path, saidRow("after"))
	if got := read(t, r); got != "message:after" {
		t.Errorf(`read(t, r) = %q, want "message:after"`, got)
	}
	// One row without an end fills the whole window.
	path = s.write("s3.jsonl", saidRow("a")+strings.Repeat("y", headWindow+2*tailWindow))
	r = s.must("s3", path)
	if got := read(t, r); got != "message:a(early)" {
		t.Errorf(`read(t, r) = %q, want "message:a(early)"`, got)
	}
	s.add(path, "\n"+saidRow("z"))
	if got := read(t, r); got != "message:z" {
		t.Errorf(`read(t, r) = %q, want "message:z"`, got)
	}
}

// Only what really lies in the store is read.
func TestPathsOutsideTheStore(t *testing.T) {
	s := newStore(t, "claude")
	inside := s.write("s1.jsonl", saidRow("in"))
	secret := filepath.Join(s.home, "secret.jsonl")
	if err := os.WriteFile(secret, []byte(saidRow("out")), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(s.dir, "link.jsonl")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	dirLink := filepath.Join(s.dir, "out")
	if err := os.Symlink(s.home, dirLink); err != nil {
		t.Fatal(err)
	}
	fine := filepath.Join(s.dir, "fine.jsonl")
	if err := os.Symlink(inside, fine); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		inside: true, fine: true,
		filepath.Join(s.dir, "comes-later.jsonl"): true,
		secret: false, link: false, filepath.Join(dirLink, "secret.jsonl"): false,
		filepath.Join(s.dir, "..", "..", "..", "secret.jsonl"): false,
		"s1.jsonl": false, "/etc/passwd": false, s.dir + "/a\x00b": false,
		filepath.Join(s.home, ".claude", "projects"):  false,
		filepath.Join(s.home, ".claude", "projects2"): false,
	} {
		if _, err := s.open("s1", path); (err == nil) != want {
			t.Errorf("%q: error %v, want (err == nil) = %v", path, err, want)
		}
	}
	// A record that becomes a link to elsewhere is not followed.
	r := s.must("s1", inside)
	read(t, r)
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, inside); err != nil {
		t.Fatal(err)
	}
	if facts, err := r.Read(); err == nil || len(facts) != 0 {
		t.Errorf("followed: %v; want an error and len(facts) == 0", facts)
	}
}

// The store itself may be a link: people keep it elsewhere.
func TestLinkedStore(t *testing.T) {
	s := newStore(t, "claude")
	path := s.write("s1.jsonl", saidRow("in"))
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(s.home, ".claude"), filepath.Join(home, ".claude")); err != nil {
		t.Fatal(err)
	}
	r, err := Open(s.spec, "s1", strings.Replace(path, s.home, home, 1), Env{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, r); got != "message:in" {
		t.Errorf(`read(t, r) = %q, want "message:in"`, got)
	}
	// A variable moves it.
	r, err = Open(s.spec, "s1", path, Env{Getenv: func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return filepath.Join(s.home, ".claude")
		}
		return ""
	}})
	if err != nil || read(t, r) != "message:in" {
		t.Errorf(`error %v, want no error and read(t, r) = "message:in"`, err)
	}
	if _, err := Open(s.spec, "s1", path, Env{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("no home: %v; want err to be ErrUnknown", err)
	}
}

// Without a path the store is searched by the id the agent gave.
func TestFind(t *testing.T) {
	s := newStore(t, "codex")
	id := "01a1dcf6-ab3d-7530-98a4-bb227d095116"
	root := filepath.Join(s.home, ".codex", "sessions")
	s.dir = filepath.Join(root, "2026", "11", "15")
	row := `{"timestamp":"2026-11-15T02:00:00Z","type":"event_msg","payload":{"type":"agent_message","message":"%s"}}` +
		"\n"
	s.write("rollout-2026-11-15T01-00-00-"+id+".jsonl", fmt.Sprintf(row, "older"))
	s.write("rollout-2026-11-15T02-00-00-"+id+".jsonl", fmt.Sprintf(row, "newer"))
	s.dir = filepath.Join(s.home, ".codex")
	s.write("session_index.jsonl", `{"id":"other","thread_name":"no"}`+"\n"+`{"id":"`+id+`","thread_name":"first"}`+
		"\n"+`{"id":"`+id+`","thread_name":"Renamed"}`+"\n")
	r := s.must(id, "")
	if got := read(t, r); got != "message:newer title:first title:Renamed" {
		t.Errorf(`read(t, r) = %q, want "message:newer title:first title:Renamed"`, got)
	}
	s.add(filepath.Join(s.dir, "session_index.jsonl"), `{"id":"`+id+`","thread_name":"Again"}`+"\n")
	if got := read(t, r); got != "title:Again" {
		t.Errorf(`read(t, r) = %q, want "title:Again"`, got)
	}
	if len(r.Files()) != 2 || !strings.Contains(r.Path(), "T02-00-00") {
		t.Errorf(`r.Files() = %q, want 2 of them and "T02-00-00" in r.Path()`, r.Files())
	}
	for _, bad := range []string{"", "*", "../x", "a b", strings.Repeat("a", 300)} {
		if _, err := s.open(bad, ""); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: error %v, want error ErrUnknown", bad, err)
		}
	}
}

// A whole document is read when it changes.
func TestNamesBesideTheRecord(t *testing.T) {
	s := newStore(t, "copilot")
	s.dir = filepath.Join(s.home, ".copilot", "session-state", "s1")
	s.write("events.jsonl", "")
	r := s.must("s1", "")
	if got := read(t, r); got != "" {
		t.Errorf(`read(t, r) = %q, want ""`, got)
	}
	path := s.write("workspace.yaml", "name: First prompt\nuser_named: false\n")
	if got := read(t, r); got != "title:First prompt" {
		t.Errorf(`read(t, r) = %q, want "title:First prompt"`, got)
	}
	if got := read(t, r); got != "" {
		t.Errorf(`read(t, r) = %q, want ""`, got)
	}
	s.write("workspace.yaml", "name: Mine now\nuser_named: true\n")
	if err := os.Chtimes(path, time.Now(), time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	facts, err := r.Read()
	if err != nil || len(facts) != 1 || facts[0].Source != agent.TitleNamed {
		t.Errorf("facts = %+v, error %v; want no error, len(facts) = 1 and facts[0].Source = agent.TitleNamed",
			facts, err)
	}
	for _, odd := range []string{"", ":", "name: [1,2]", "name: {a: b}", "- x", "\x00",
		strings.Repeat("a: b\n", 1<<16)} {
		copilotWorkspace([]byte(odd), "s1", func(f Fact) {
			t.Errorf("%q: found %+v, want nothing", odd[:min(10, len(odd))], f)
		})
	}
}

func TestUnknownFormats(t *testing.T) {
	if _, err := Open(nil, "s", "", Env{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want error ErrUnknown", err)
	}
	if _, err := Open(&agent.TranscriptSpec{Format: "smoke-signals", Root: "~/x"}, "s", "",
		Env{Home: "/"}); err == nil || !strings.Contains(err.Error(), "use one of") {
		t.Errorf(`error %v, want an error and "use one of" in err.Error()`, err)
	}
	// Every format the catalogue names can be read.
	for _, a := range agent.Builtin().Agents() {
		names := []string{a.Status.Transcript.Format}
		for _, n := range a.Status.Transcript.Names {
			names = append(names, n.Format)
		}
		for _, name := range names {
			if _, ok := formats[name]; !ok && name != "" {
				t.Errorf(`%s: no format %s; want ok or name == ""`, a.Name, name)
			}
		}
	}
}

// Codex compresses records nobody writes to, and begins a record with what it goes on from
// in another file. Neither keeps a session from being followed.
func TestCompressedAndPaginatedRollouts(t *testing.T) {
	s := newStore(t, "codex")
	id := "01a1dcf6-ab3d-7530-98a4-bb227d095116"
	s.dir = filepath.Join(s.home, ".codex", "sessions", "2026", "11", "15")
	name := "rollout-2026-11-15T01-00-00-" + id + ".jsonl"
	row := `{"timestamp":"2026-11-15T02:00:00Z","type":"event_msg","payload":{"type":"agent_message","message":"%s"}}` + "\n"
	head := `{"timestamp":"2026-11-15T01:00:00Z","type":"session_meta","payload":{"id":"` + id +
		`","history_mode":"paginated","history_base":{"thread_id":"x","ordinal":7}}}` + "\n"
	path := s.write(name, head+fmt.Sprintf(row, "one"))
	r := s.must(id, path)
	if got := read(t, r); got != "message:one" {
		t.Errorf(`a paginated record: read(t, r) = %q, want "message:one"`, got)
	}
	// It is compressed, and written to again when the session goes on.
	packed := "\x28\xb5\x2f\xfd\x24\n\x00\x01\n" + strings.Repeat("\xff\n", 200)
	s.write(name+".zst", packed)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if facts, err := r.Read(); len(facts) != 0 {
		t.Errorf("the record is gone: %v, %v; want no facts", facts, err)
	}
	s.write(name, head+fmt.Sprintf(row, "one")+fmt.Sprintf(row, "two"))
	if got := read(t, r); !strings.HasSuffix(got, "message:two") {
		t.Errorf("it is back: read(t, r) = %q, want message:two at the end", got)
	}
	// A hook may name the compressed one.
	other, err := s.open(id, path+".zst")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, other); got != "" {
		t.Errorf("a compressed record: read(t, other) = %q, want nothing", got)
	}
}
