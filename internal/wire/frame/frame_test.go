package frame

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func reader(text string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(text), 16) }

func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Request{
			V:         1,
			ID:        rapid.StringN(1, -1, 128).Draw(t, "id"),
			Seq:       rapid.Uint64Max(1<<63-1).Draw(t, "seq"),
			Agent:     rapid.StringN(1, -1, 40).Draw(t, "agent"),
			Event:     rapid.String().Draw(t, "event"),
			Deadline:  time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "deadline")) * time.Millisecond,
			Cwd:       string(rapid.SliceOf(rapid.Byte()).Draw(t, "cwd")), // paths are bytes
			Version:   rapid.String().Draw(t, "version"),
			Truncated: rapid.Bool().Draw(t, "truncated"),
			Payload:   rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "payload"),
			Env:       rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "env"),
		}
		bytesOfIt := AppendRequest(nil, &want)
		br := bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(append(bytesOfIt, "next"...))), 16)
		got, err := ReadRequest(br, nil, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		if rest, _ := io.ReadAll(br); string(rest) != "next" {
			t.Fatalf("read too much or too little: %q is left", rest)
		}
	})
}

func TestReplyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Reply{
			ID:     rapid.StringN(1, -1, -1).Draw(t, "id"),
			Exit:   rapid.IntRange(0, 255).Draw(t, "exit"),
			Stdout: rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "stdout"),
			Stderr: rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "stderr"),
		}
		got, err := ReadReply(bufio.NewReader(bytes.NewReader(AppendReply(nil, &want))), Limits{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

// What we write is JSON to everybody else as well.
func TestHeaderIsJSON(t *testing.T) {
	r := Request{
		ID: "a\"b\\c\n\x01", Agent: "claude", Event: "Ünïcode 😀 \u2028", Cwd: "/a b/\t", Seq: 7,
		Deadline: 1500 * time.Millisecond, Version: "1.2", Truncated: true, Payload: []byte("xyz"),
		Env: []byte("A=1\x00"),
	}
	var got map[string]any
	if err := json.Unmarshal(AppendRequestHeader(nil, &r), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"v": 1.0, "id": r.ID, "seq": 7.0, "agent": "claude", "event": r.Event, "deadline": 1500.0,
		"cwd": r.Cwd, "ver": "1.2", "truncated": true, "payload": 3.0, "env": 4.0,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestHeaderForgives(t *testing.T) {
	line := "\t{ \"env\" : 2 , \"other\":{\"deep\":[1,-2.5e+3,null,true,\"\\u0041\",{}, []]},\"payload\":3,\r\n" +
		` "eve\u006et":"\ud83d\ude00\/\b\f\n\r\t\"\\ \ud800x \ud800\u0041","agent":"grok" , "id":"1","v":1, "n":0, "f":false } ` + "\r"
	r, payload, env, err := ParseHeader([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if payload != 3 || env != 2 || r.Agent != "grok" || r.ID != "1" {
		t.Errorf(`got %+v %d %d; want payload == 3, env == 2, r.Agent == "grok" and r.ID == "1"`, r, payload, env)
	}
	if want := "😀/\b\f\n\r\t\"\\ \ufffdx \ufffdA"; r.Event != want {
		t.Errorf("event %q, want %q", r.Event, want)
	}
}

func TestHeaderRefuses(t *testing.T) {
	const good = `"v":1,"id":"1","agent":"a"`
	for _, line := range []string{
		"", "{", "}", "[]", "null", `"x"`, "{}", "{" + good, "{" + good + ",}", "{" + good + "} x", "{" + good + "}\x00", "{" + good + "}{}",
		`{"v":1,"id":"1"}`, `{"v":1,"agent":"a"}`, `{"id":"1","agent":"a"}`, `{"v":0,"id":"1","agent":"a"}`,
		`{"v":"1","id":"1","agent":"a"}`, `{"v":1,"id":1,"agent":"a"}`, `{"v":1,"id":null,"agent":"a"}`, `{"v":1.0,"id":"1","agent":"a"}`,
		"{" + good + `,"payload":-1}`, "{" + good + `,"payload":1e3}`, "{" + good + `,"payload":"3"}`, "{" + good + `,"payload":03}`,
		"{" + good + `,"payload":99999999999999999999}`, "{" + good + `,"payload":4294967296}`, "{" + good + `,"payload":}`, "{" + good + `,"payload":true}`,
		"{" + good + `,"truncated":1}`, "{" + good + `,"truncated":tru}`, "{" + good + `,"deadline":-5}`, "{" + good + `,"deadline":9223372036854775807}`,
		"{" + good + `,"cwd":"a` + "\n" + `b"}`, "{" + good + `,"cwd":"\x"}`, "{" + good + `,"cwd":"\u12g4"}`, "{" + good + `,"cwd":"\u12`, "{" + good + `,"cwd":"\`,
		"{" + good + `,"x":01}`, "{" + good + `,"x":1.}`, "{" + good + `,"x":-}`, "{" + good + `,"x":nul}`, "{" + good + `,"x":[1 2]}`, "{" + good + `,"x":[}`, "{" + good + `,"x"}`, "{" + good + `,x:1}`,
		"{" + good + `,"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
		`{"v":1,"agent":"a","id":"` + strings.Repeat("x", 129) + `"}`,
	} {
		if r, _, _, err := ParseHeader([]byte(line)); err == nil {
			t.Errorf("%q was read as %+v", line, r)
		}
	}
	if _, _, _, err := ParseHeader([]byte(`{"v":2,"id":"1","agent":"a"}`)); !errors.Is(err, ErrVersion) {
		t.Errorf("version 2: %v; want err to be ErrVersion", err)
	}
	for _, line := range []string{"", "{}", `{"id":"1","exit":256}`, `{"id":"1","exit":-1}`, `{"id":"1","stdout":-1}`} {
		if r, _, _, err := ParseReply([]byte(line)); err == nil {
			t.Errorf("reply %q was read as %+v", line, r)
		}
	}
}

func TestLimits(t *testing.T) {
	head := `{"v":1,"id":"1","agent":"a","payload":5,"env":4}` + "\n"
	for _, lim := range []Limits{{Payload: 4, Env: 4}, {Payload: 5, Env: 3}} {
		if _, err := ReadRequest(reader(head+"12345ABCD"), nil, lim); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: error %v, want error ErrTooLarge", lim, err)
		}
	}
	if r, err := ReadRequest(reader(head+"12345ABCD"), nil, Limits{Payload: 5, Env: 4}); err != nil ||
		string(r.Payload) != "12345" || string(r.Env) != "ABCD" {
		t.Errorf(`r = %+v, error %v; want no error, string(r.Payload) = "12345" and string(r.Env) = "ABCD"`, r, err)
	}
	huge := `{"v":1,"id":"1","agent":"a","payload":2147483647}` + "\n"
	if _, err := ReadRequest(reader(huge), nil, Limits{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want error ErrTooLarge", err)
	}
	long := `{"v":1,"cwd":"` + strings.Repeat("x", MaxHeader) + `"}` + "\n"
	for _, size := range []int{16, 4096, 2 * MaxHeader} {
		if _, err := ReadLine(bufio.NewReaderSize(strings.NewReader(long), size)); !errors.Is(err, ErrHeaderTooLong) {
			t.Errorf("buffer %d: %v; want err to be ErrHeaderTooLong", size, err)
		}
	}
}

func TestCutOff(t *testing.T) {
	whole := AppendRequest(nil, &Request{ID: "1", Agent: "a", Payload: []byte("12345"), Env: []byte("ABCD")})
	for n := range whole {
		_, err := ReadRequest(reader(string(whole[:n])), nil, Limits{})
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", n, err, want)
		}
	}
}

// A peer that announces much and sends little must not cost memory.
func TestAnnouncingReservesNothing(t *testing.T) {
	got := testing.AllocsPerRun(1, func() {
		_, _, _ = ReadBodies(reader("abc"), 16<<20, 0, Limits{})
	})
	if got > 10 {
		t.Errorf("%v allocations; want got <= 10", got)
	}
	large := bytes.Repeat([]byte("0123456789"), 100_000)
	a, _, err := ReadBodies(bufio.NewReader(bytes.NewReader(large)), len(large), 0, Limits{})
	if err != nil || !bytes.Equal(a, large) {
		t.Errorf("a large body came out wrong: %v", err)
	}
}

func TestMargin(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{
		time.Second: 250 * time.Millisecond, 4 * time.Second: time.Second, 5 * time.Second: 2 * time.Second,
		40 * time.Second: 2 * time.Second, 600 * time.Second: 30 * time.Second,
	} {
		if got := Margin(limit); got != want {
			t.Errorf("Margin(%v) = %v, want %v", limit, got, want)
		}
	}
}

func TestNewID(t *testing.T) {
	at := time.UnixMilli(1_790_000_000_123)
	seen := map[string]bool{}
	for range 1000 {
		id := newID(at)
		if len(id) != 26 || strings.Trim(id, alphabet) != "" {
			t.Fatalf("%q is no id", id)
		}
		if id >= newID(at.Add(time.Millisecond)) {
			t.Fatal("ids don't sort by time")
		}
		if seen[id] {
			t.Fatal("the same id twice")
		}
		seen[id] = true
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"1","seq":2,"agent":"a","event":"e","deadline":5,"cwd":"/","ver":"1","truncated":false,"payload":1,"env":2}`))
	f.Add([]byte(`{"v":1,"id":"\ud83d\ude00","agent":"a","x":[{},[],-1.5e-7,null]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, payload, env, err := ParseHeader(line)
		if err != nil {
			return
		}
		if payload < 0 || env < 0 || r.Deadline < 0 {
			t.Fatalf("negative: %d %d %v; want payload >= 0, env >= 0 and r.Deadline >= 0", payload, env, r.Deadline)
		}
		// Whatever we read is JSON to others too, and survives being written.
		if !json.Valid(line) {
			t.Fatalf("read what is no JSON: %q", line)
		}
		again, _, _, err := ParseHeader(bytes.TrimSuffix(AppendRequestHeader(nil, &r), []byte("\n")))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v became %+v, %v; want no error and again equal to r", r, again, err)
		}
	})
}

func FuzzReadRequest(f *testing.F) {
	f.Add(AppendRequest(nil, &Request{ID: "1", Agent: "a", Payload: []byte("p"), Env: []byte("A=1\x00")}))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ReadRequest(bufio.NewReader(bytes.NewReader(in)), nil, Limits{Payload: 1 << 20, Env: 1 << 16})
		if err == nil && len(r.Payload)+len(r.Env) > len(in) {
			t.Fatal("more came out than went in")
		}
	})
}

func FuzzReadReply(f *testing.F) {
	f.Add(AppendReply(nil, &Reply{ID: "1", Exit: 2, Stdout: []byte("out"), Stderr: []byte("err")}))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ReadReply(bufio.NewReader(bytes.NewReader(in)), Limits{})
		if err == nil && (r.Exit < 0 || r.Exit > 255 || r.ID == "") {
			t.Fatalf(`r = %+v, want not err == nil && (r.Exit < 0 || r.Exit > 255 || r.ID == "")`, r)
		}
	})
}

func BenchmarkParseHeader(b *testing.B) {
	r := Request{ID: NewID(), Agent: "claude", Event: "PreToolUse", Deadline: time.Minute,
		Cwd: "/home/somebody/project", Version: "0.1.0"}
	line := bytes.TrimSpace(AppendRequestHeader(nil, &r))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := ParseHeader(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendRequest(b *testing.B) {
	r := Request{ID: NewID(), Agent: "claude", Event: "PreToolUse", Deadline: time.Minute,
		Cwd: "/home/somebody/project", Version: "0.1.0", Payload: make([]byte, 2000)}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendRequest(buf[:0], &r)
	}
}
