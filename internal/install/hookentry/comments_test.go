package hookentry_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/install/hookentry/hookentrytest"
)

// gaps returns the offsets in JSON at which a comment may stand.
func gaps(text string) []int {
	var out []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			out = append(out, i)
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out = append(out, i+1)
		case '/':
			i += strings.IndexByte(text[i:]+"\n", '\n')
		case '{', '}', '[', ']', ',', ':':
			out = append(out, i, i+1)
		}
	}
	return out
}

// Comments that people put anywhere while hookmux is in the file are there when
// it is gone, with a record of the installation and without.
func TestPeoplesCommentsStay(t *testing.T) {
	t.Parallel()
	for _, s := range hookentrytest.Shapes() {
		if s.Format != edit.JSON {
			continue
		}
		t.Run(hookentrytest.ShapeName(s), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				src := drawDocument(rt, s)
				now, kept, err := s.WriteCommands(src, testAgent,
					commandsOf("/x/"+hookentry.HookName, "Before", "After"), nil)
				if err != nil {
					rt.Fatal(err)
				}
				text := string(now)
				n := rapid.IntRange(1, 4).Draw(rt, "comments")
				for i := range n {
					at := rapid.SampledFrom(gaps(text)).Draw(rt, "at")
					note := fmt.Sprintf(rapid.SampledFrom([]string{"// note-%d-\n", "/* note-%d- */",
						"\n  // note-%d-\n"}).Draw(rt, "note"), i)
					text = text[:at] + note + text[at:]
				}
				if rapid.Bool().Draw(rt, "no record") {
					kept = nil
				}
				out, err := s.RemoveEntries([]byte(text), testAgent, kept)
				if err != nil {
					rt.Fatalf("error %v, text = %s; want no error", err, text)
				}
				if countOurs(rt, s, out) != 0 || strings.Contains(string(out), hookentry.HookName) {
					rt.Fatalf("still there:\n%s; want countOurs(rt, s, out) == 0 and no hookentry.HookName "+
						"in string(out)", out)
				}
				for i := range n {
					if strings.Count(string(out), fmt.Sprintf("note-%d-", i)) != 1 {
						rt.Fatalf("note %d is gone from\n%s\nwith us it was\n%s", i, out, text)
					}
				}
				if a, b := strings.Count(string(out), "theirs-"), strings.Count(string(src), "theirs-"); a != b {
					rt.Fatalf("%d hooks of others, were %d\n%s\nwith us it was\n%s", a, b, out, text)
				}
			})
		})
	}
}

// The same for formats that live by their lines, with lines of comment.
func TestPeoplesLinesOfCommentStay(t *testing.T) {
	t.Parallel()
	for _, s := range hookentrytest.Shapes() {
		if s.Format == edit.JSON {
			continue
		}
		t.Run(hookentrytest.ShapeName(s), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				src := drawDocument(rt, s)
				now, kept, err := s.WriteCommands(src, testAgent,
					commandsOf("/x/"+hookentry.HookName, "Before", "After"), nil)
				if err != nil {
					rt.Fatal(err)
				}
				lines := strings.SplitAfter(string(now), "\n")
				at := rapid.IntRange(0, len(lines)-1).Draw(rt, "at")
				indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], " "))]
				text := strings.Join(lines[:at], "") + indent + "# note\n" + strings.Join(lines[at:], "")
				if rapid.Bool().Draw(rt, "no record") {
					kept = nil
				}
				out, err := s.RemoveEntries([]byte(text), testAgent, kept)
				if err != nil {
					rt.Fatalf("error %v, text = %s; want no error", err, text)
				}
				if countOurs(rt, s, out) != 0 || strings.Count(string(out), "# note") != 1 {
					rt.Fatalf("is\n%s\nwith us it was\n%s", out, text)
				}
			})
		})
	}
}

func TestKeysWrittenTwice(t *testing.T) {
	t.Parallel()
	s := hookentrytest.Shapes()[0]
	ours, _, err := s.WriteCommands([]byte("{}"), testAgent, commandsOf("/x/"+hookentry.HookName, "Before"), nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs := `"hooks": {"Before": [{"hooks": [{"type": "command", "command": "theirs"}]}]}`
	twice := "{" + theirs + ", " + strings.TrimPrefix(string(ours), "{")
	out, err := s.RemoveEntries([]byte(twice), testAgent, nil)
	if err != nil || !strings.Contains(string(out), theirs) || strings.Contains(string(out), hookentry.HookName) {
		t.Errorf("%v: out = %s, want no error, %q in it and no hookentry.HookName in it", err, out, theirs)
	}
}
