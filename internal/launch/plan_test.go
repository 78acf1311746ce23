package launch

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Planning twice is planning once: a shim that comes back adds nothing.
func TestPlanningAgainChangesNothing(t *testing.T) {
	own := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`
	for name, lines := range map[string][][]string{
		"claude": {nil, {"-p", "hi"}, {"--settings", own, "hi"}, {"--settings=" + own}},
		"codex":  {nil, {"exec", "hi"}, {"exec", "-c", `hooks.Stop=[{hooks=[{type="command",command="mine"}]}]`, "hi"}},
	} {
		for _, args := range lines {
			first, _, _, err := plan(t, name, nil, args...)
			if err != nil {
				t.Fatal(err)
			}
			second, injected, _, err := plan(t, name, nil, first[1:]...)
			if err != nil || !injected || !slices.Equal(first, second) {
				t.Errorf("%s %q: error %v, first = %q, second = %q; want no error, injected and first = %q",
					name, args, err, first, second, second)
			}
		}
	}
}

// Whatever the arguments are: nothing of the user's is lost, changed or
// moved, but the value that hooks are folded into.
func TestArgumentsKeepOrderAndBytes(t *testing.T) {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{
			"-p", "--print", "--", "-", "", "--model", "opus", "--model=x", "-c", "model=1", "exec", "resume", "mcp", "hi there", "--add-dir", "-pc",
			"-cmodel=x", "-n", "--verbose", "--resume", "--config=a.b=2", "\xff\xfe", "日本", "$(x)", "'\"", "--settings-file", "--no-settings",
		}),
		rapid.StringMatching(`-{0,2}[a-z]{0,6}(=[ -~]{0,4})?`).Filter(
			func(s string) bool { return !strings.HasPrefix(s, "--settings") && !strings.Contains(s, "hooks") }),
	)
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				args := rapid.SliceOfN(word, 0, 8).Draw(rt, "args")
				before := slices.Clone(args)
				argv, injected, _, err := plan(t, name, nil, args...)
				if err != nil {
					rt.Fatal(err)
				}
				if !slices.Equal(args, before) {
					rt.Fatal("the caller's slice was changed")
				}
				if len(argv) < 1+len(args) || !slices.Equal(argv[len(argv)-len(args):], args) {
					rt.Fatalf("arguments changed: %q; want len(argv) >= 1+len(args) and "+
						"argv[len(argv)-len(args):] equal to args", argv)
				}
				if !injected && len(argv) != 1+len(args) {
					rt.Fatalf("passed on, and yet changed: %q", argv)
				}
			})
		})
	}
}

func FuzzPlan(f *testing.F) {
	f.Add("-p\x00hi\x00--settings\x00{\"hooks\":{}}")
	f.Add("exec\x00-c\x00hooks.Stop=[{hooks=[]}]\x00hi")
	f.Add("--settings={/**/}\x00--\x00--settings")
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		for _, name := range []string{"claude", "codex"} {
			argv, injected, _, err := plan(t, name, nil, args...)
			if err != nil {
				continue
			}
			if !injected && !slices.Equal(argv[1:], args) {
				t.Fatalf("%s: passed on, and yet changed: %q", name, argv)
			}
			again, _, _, err := plan(t, name, nil, argv[1:]...)
			if err != nil || !slices.Equal(again, argv) {
				t.Fatalf("%s: planning again gives another command line: %v\n%q\n%q", name, err, argv, again)
			}
		}
	})
}
