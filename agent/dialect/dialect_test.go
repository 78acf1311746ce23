package dialect

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookmux/hookmux/event"
)

func TestPatchPaths(t *testing.T) {
	for patch, want := range map[string][]string{
		"": nil,
		"*** Begin Patch\n*** Add File: a/b c.txt\n+x\n*** End Patch":                             {"a/b c.txt"},
		"*** Begin Patch\r\n*** Update File: a\r\n*** Move to: b\r\n@@\r\n*** Delete File: c\r\n": {"a", "b", "c"},
		"+*** Add File: not-me\n-*** Add File: nor-me":                                            nil,
		"  *** Add File: indented":                                                                {"indented"},
		"*** Add File: \n*** Nothing: x":                                                          nil,
	} {
		if got := PatchPaths(patch); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: PatchPaths(patch) = %q, want %q", patch, got, want)
		}
	}
}

func TestPatchedBy(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: /b\n+z\n*** End Patch"
	for command, want := range map[string][]string{
		"apply_patch <<'EOF'\n" + patch + "\nEOF":          {"a", "/b"},
		"applypatch '" + patch + "'":                       {"a", "/b"},
		"cd ~/x && apply_patch <<EOF\n" + patch + "\nEOF":  {"a", "/b", "~/x/a"},
		"(cd 'my folder/'; apply_patch \"" + patch + "\")": {"a", "/b", "my folder/a"},
		"cat > notes <<EOF\n" + patch + "\nEOF":            nil,
		"git apply_patches":                                nil,
	} {
		if got := PatchedBy(command); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: PatchedBy(command) = %q, want %q", command, got, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for want, words := range map[string][]string{
		"":                    nil,
		"ls -l | wc":          {"/bin/bash", "-lc", "ls -l | wc"},
		"git commit -m 'a b'": {"git", "commit", "-m", "a b"},
		`echo 'it'\''s' ''`:   {"echo", "it's", ""},
		"python -c 'x()'":     {"python", "-c", "x()"},
	} {
		if got := CommandLine(words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

// What a dialect writes is one line of JSON, whatever text goes in.
func TestAnswersAreOneLine(t *testing.T) {
	nasty := "a\"b\\c\n\x00\u2028</script>\xff"
	for name, d := range table {
		if d.Encode == nil {
			continue
		}
		for _, shape := range d.Shapes {
			for _, verdict := range []event.Verdict{event.None, event.Allow, event.Modify, event.Ask, event.Deny} {
				answer, _ := d.Encode(Call{
					Event: &event.Event{Tool: &event.Tool{Kind: event.Shell}}, Native: "X", Shape: shape,
					Input: json.RawMessage("{\n \"command\": \"x\"\n}"),
					Decision: event.Decision{Verdict: verdict, Allowed: true, Reason: nasty, Context: nasty,
						Notice: nasty, Output: json.RawMessage("{\n}"), KeepGoing: shape == ShapeBlock},
				})
				if answer.Stdout == "" {
					continue
				}
				if shape == ShapeExit { // plain words
					if !utf8.ValidString(answer.Stdout) || strings.ContainsAny(answer.Stdout, "\x00\x1b") {
						t.Errorf(`%s %s %s: answer.Stdout = %q, want utf8.ValidString(answer.Stdout) and not `+
							`strings.ContainsAny(answer.Stdout, "\x00\x1b")`, name, shape, verdict, answer.Stdout)
					}
					continue
				}
				if !json.Valid([]byte(answer.Stdout)) {
					t.Errorf("%s %s %s: answer.Stdout = %q, want json.Valid([]byte(answer.Stdout))",
						name, shape, verdict, answer.Stdout)
				}
				for _, r := range answer.Stdout {
					if r < ' ' {
						t.Errorf("%s %s %s: control character in %q", name, shape, verdict, answer.Stdout)
					}
				}
			}
		}
	}
}

func TestNamesAreSpeakable(t *testing.T) {
	if got := Names(); !slices.IsSorted(got) || len(got) != len(table)-1 || slices.Contains(got, "generic") {
		t.Errorf("Names() = %q, want all %d of the table but generic, sorted", got, len(table))
	}
	if _, ok := Lookup("generic"); !ok {
		t.Error("the generic reading is missing")
	}
	if _, ok := Lookup("klingon"); ok {
		t.Error("klingon; want !ok")
	}
}

// An agent that looks at stderr alone takes silence for a crash.
func TestExitAnswerAlwaysHasAReason(t *testing.T) {
	for _, blank := range []string{"", " ", "\n", "\x01\x7f"} {
		for _, d := range []event.Decision{
			{Verdict: event.Deny, Reason: blank}, {KeepGoing: true, Reason: blank},
		} {
			answer, _ := exitAnswer(d)
			if answer.Exit != 2 || answer.Stderr == "" || answer.Stdout != "" {
				t.Errorf("%+v: answer %+v, want exit 2 with a reason on stderr alone", d, answer)
			}
		}
	}
}
