package tshook

import (
	"context"
	"errors"
	"regexp"
	"runtime/debug"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/tshook/engine"
)

// attack is a hook that does harm when told to, and its memory of events.
const attack = `
let seen = 0;
const held: any[] = [];
export default function (h: any) {
  h.on("tool_call", async (event: any) => {
    seen++;
    switch (event.input.command) {
      case "busy loop": for (;;) {}
      case "busy loop in catch": for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }
      case "busy loop behind await": await null; for (;;) {}
      case "microtasks": { const again = (): any => Promise.resolve().then(again); await again(); }
      case "sort": new Array(1e6).fill(0).map((_, i) => i).sort(() => { for (;;) {} });
      case "regex": /^(a+)+$/.test("a".repeat(40) + "!");
      case "regex with lookahead": /^(?=(a+)+b)(a+)+\1$/.test("a".repeat(40) + "!");
      case "array bomb": for (;;) held.push(new Array(1e6).fill(7));
      case "string bomb": { let s = "x"; for (;;) held.push(s += s); }
      case "buffer bomb": for (;;) held.push(new Uint8Array(1e7));
      case "recursion": { const f = (): any => f() + 1; f(); }
      case "never": await new Promise(() => {});
      case "count": return { block: true, reason: String(seen) };
    }
  });
}
`

// Whatever a file does ends in time, is a failure for who had to
// decide, and leaves an engine behind that works.
func TestAttacks(t *testing.T) {
	s := newHarness(t, func(h *Host) { h.Limits = Limits{Slice: 80 * time.Millisecond, Memory: 16 << 20} })
	m := s.load("attack.ts", attack)
	s.must(m, s.bash("ls"))
	for _, c := range []struct {
		command string
		want    error
		text    string // one of these words
		kept    bool   // the engine itself goes on
	}{
		{command: "busy loop", text: "interrupted"},
		{command: "busy loop in catch", text: "interrupted"},
		{command: "busy loop behind await", text: "interrupted"},
		{command: "microtasks", text: "interrupted"},
		{command: "sort", text: "interrupted|memory"},
		{command: "regex", text: "interrupted"},
		{command: "regex with lookahead", text: "interrupted"},
		{command: "array bomb", text: "memory|interrupted"},
		{command: "string bomb", text: "", kept: true}, // a text cannot grow without end
		{command: "buffer bomb", text: "memory|interrupted"},
		{command: "recursion", text: "stack|interrupted"},
		{command: "never", want: errNoAnswer, kept: true},
	} {
		t.Run(c.command, func(t *testing.T) {
			began := time.Now()
			limit := 10 * time.Second
			if c.want != nil {
				limit = 400 * time.Millisecond
			}
			_, err := s.within(m, s.bash(c.command), limit)
			if took := time.Since(began); took > 9*time.Second {
				t.Errorf("took %s; want took <= 9*time.Second", took)
			}
			if err == nil || (c.want != nil && !errors.Is(err, c.want)) ||
				!regexp.MustCompile(c.text).MatchString(err.Error()) {
				t.Fatalf("got %v; want an error, c.want == nil or err to be c.want and "+
					"regexp.MustCompile(c.text).MatchString(err.Error())", err)
			}
			t.Log(err)
			d := s.must(m, s.bash("count"))
			if d.Verdict != event.Deny || (c.kept && d.Reason == "1") ||
				(!c.kept && c.command != "recursion" && d.Reason != "1") {
				t.Errorf(`afterwards %+v; want d.Verdict == event.Deny, !c.kept or d.Reason != "1" and `+
					`c.kept or c.command == "recursion" or d.Reason == "1"`, d)
			}
		})
	}
	// Each is told once, with its place where that is known.
	placed := map[string]bool{}
	for _, p := range m.Info().Errors {
		placed[p.Text] = placed[p.Text] || p.Where != ""
	}
	for _, p := range m.Info().Errors {
		if p.Event == "" || p.Where == "" && placed[p.Text] && p.Text == engine.ErrMemory.Error() {
			t.Errorf("told twice, or without its event: %+v", p)
		}
	}
}

// That the daemon ends, or the caller leaves, is no fault of the
// file.
func TestNobodyWaits(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("slow.ts", `export default (h: any) => h.on("tool_call", () => new Promise(() => {}));`)
	ctx, leave := context.WithCancel(t.Context())
	ev := s.bash("x")
	over := make(chan error, 1)
	go func() {
		_, err := m.Handle(ctx, &hook.Call{Event: ev, Hook: &hook.Registration{}})
		over <- err
	}()
	time.Sleep(20 * time.Millisecond)
	leave()
	if err := <-over; err == nil {
		t.Error("an answer without one")
	}
	if got := s.troubles(); got != "" {
		t.Errorf(`s.troubles() = %q, want ""`, got)
	}
}

// Engines that had to be dropped give their memory back.
func TestDropped(t *testing.T) {
	s := newHarness(t, func(h *Host) { h.Limits = Limits{Slice: 40 * time.Millisecond} })
	m := s.load("attack.ts", `const held: any[] = [];
export default (h: any) => h.on("tool_call", () => {
  for (;;) if (held.length < 60) held.push(new Array(1e4).fill(held.length));
});`)
	drop := func(n int) {
		for range n {
			if _, err := s.handle(m, s.bash("x")); err == nil {
				t.Fatal("it ended; want an error")
			}
		}
	}
	drop(3) // the allocator keeps some of what it was once asked for
	debug.FreeOSMemory()
	before := await.Resident(t)
	const n = 10
	drop(n)
	after := 0
	for range 40 {
		debug.FreeOSMemory()
		if after = await.Resident(t); after < before+n<<20 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("resident %d KiB before, %d KiB after %d engines of 9 MiB were dropped", before/1024, after/1024, n)
}

// A file can also misbehave while it is loaded.
func TestLoadLimits(t *testing.T) {
	s := newHarness(t, func(h *Host) {
		h.Limits = Limits{Slice: 100 * time.Millisecond, Memory: 16 << 20, Load: 400 * time.Millisecond}
	})
	for text, want := range map[string]string{
		"for (;;) {}\nexport default () => {};":                                            "interrupted|not loaded",
		"export default () => { for (;;) {} };":                                            "interrupted|not loaded",
		"await new Promise(() => {});\nexport default () => {};":                           "not loaded within",
		"export default () => new Promise(() => {});":                                      "not loaded within",
		"export default () => { const a = []; for (;;) a.push(new Array(1e6).fill(1)); };": "memory|not loaded|interrupted",
	} {
		path := s.file("slow.ts", text)
		if _, err := s.engine.Load(t.Context(), Source{Path: path}); err == nil ||
			!regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: error %v, want an error and regexp.MustCompile(want).MatchString(err.Error())", text, err)
		}
	}
}
