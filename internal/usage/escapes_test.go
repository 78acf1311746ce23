package usage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// escaped is JSON with letters of its keys and texts written as escapes: the same JSON.
func escaped(r *rand.Rand, doc string) string {
	var b strings.Builder
	within := false
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		switch {
		case within && c == '\\':
			n := 2
			if doc[i+1] == 'u' {
				n = 6
			}
			b.WriteString(doc[i : i+n])
			i += n - 1
		case c == '"':
			within = !within
			b.WriteByte(c)
		case within && c < 0x80 && r.IntN(4) == 0:
			fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// A record says the same however its JSON is written: no key, and no word that tells what a
// line is, hides behind an escape.
func TestEscapedRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 1))
	check := func(t *testing.T, path string, lines []string, want Tokens) {
		t.Helper()
		w := newWorld(t)
		for i := range lines {
			lines[i] = escaped(r, lines[i])
		}
		w.write(path, lines...)
		l := newLedger(time.Now, BuiltinPrices)
		w.scanner.rewritten = l.noteRewritten
		w.scan()
		w.wants("escaped", want)
		for _, one := range l.doubts.All() {
			t.Errorf("doubted: %s", one.why)
		}
	}
	for _, one := range capturedRecords {
		t.Run(one.from+" of "+one.agent, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(captured, one.from))
			if err != nil {
				t.Fatal(err)
			}
			check(t, one.to, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), one.want)
		})
	}
	for _, one := range writtenByHand {
		t.Run(one.name, func(t *testing.T) { check(t, one.path, append([]string(nil), one.lines...), one.want) })
	}
	t.Run("OpenCode's messages", func(t *testing.T) {
		w := newWorld(t)
		rows, err := os.ReadFile("testdata/opencode.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		statements := []string{"CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)"}
		for i, row := range strings.Split(strings.TrimSpace(string(rows)), "\n") {
			statements = append(statements, fmt.Sprintf("INSERT INTO message VALUES ('%d', 'ses', '%s')", i,
				strings.ReplaceAll(escaped(r, row), "'", "''")))
		}
		execAll(t, filepath.Join(w.home, ".local/share/opencode/opencode.db"), statements...)
		w.scan()
		w.wants("escaped", Tokens{Input: 7200, Output: 120})
	})
	// What only some calls have.
	t.Run("fast", func(t *testing.T) {
		w := newWorld(t)
		w.write(".claude/projects/p/1.jsonl", escaped(r, strings.Replace(message("m", "r", "", 1_000_000, 0), `"output_tokens"`,
			`"speed":"fast","output_tokens"`, 1)))
		w.scan()
		if _, cost, _ := w.sum(); cost != 30 {
			t.Errorf("cost %v, want that of the fast mode", cost)
		}
	})
	t.Run("sent to the background", func(t *testing.T) {
		w := newWorld(t)
		w.write(".claude/projects/p/1.jsonl", message("m", "r", "", 10, 5))
		w.write(".claude/projects/p/2.jsonl", escaped(r, message("m", "q", `"sessionKind":"bg",`, 10, 5)))
		w.scan()
		w.wants("once", Tokens{Input: 10, Output: 5})
	})
}

// The place of an escape in a piece doesn't matter, nor what is around it.
func TestEscapedLetters(t *testing.T) {
	for _, text := range []string{`\u0075`, `\u005F`, `\u002e`, `\u0061`, `\u007A`, `\\u0041`} {
		for at := range 40 {
			for _, fill := range []string{"x", `\`, "u", `\u`, `\u001b`, `\u00e9`} {
				piece := strings.Repeat(fill, at)
				want := strings.Index(text, `\u`) + len(piece)
				piece += text + strings.Repeat(fill, at)
				if got := escapedLetter([]byte(piece), 0); got != want {
					t.Fatalf("in %q at %d, want %d", piece, got, want)
				}
				if got := escapedLetter([]byte(piece), want+1); got != len(piece) {
					t.Fatalf("in %q another one at %d", piece, got)
				}
			}
		}
	}
	for _, text := range []string{"", `\`, `\u`, `\u007`, `\u0022`, `\u001b`, `\u00e9`, `\u1075`, `\U0075`, `/u0075`} {
		if got := escapedLetter([]byte(text), 0); got != len(text) {
			t.Errorf("%q has one at %d", text, got)
		}
	}
}
