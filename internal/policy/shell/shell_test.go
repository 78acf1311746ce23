package shell

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// renderRuns renders the runs that have a program.
func renderRuns(s Script) []string {
	var out []string
	for i := range s.Runs {
		if len(s.Runs[i].Argv) == 0 {
			continue
		}
		parts := make([]string, len(s.Runs[i].Argv))
		for j, a := range s.Runs[i].Argv {
			parts[j] = a.Text
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

func TestRuns(t *testing.T) {
	tests := []struct {
		src  string
		want []string
	}{
		{"ls -la", []string{"ls -la"}},
		{"a && b || c; d", []string{"a", "b", "c", "d"}},
		{"a | b | c", []string{"a", "b", "c"}},
		{"(a; b) & c", []string{"a", "b", "c"}},
		{"sudo -u root env X=1 nohup wipe x", []string{"wipe x"}},
		{`r''m "a b"`, []string{"rm a b"}},
		{`\rm $'\x61\u0062\143'`, []string{"rm abc"}},
		{"sh -c 'a; b'", []string{"a", "b"}},
		{"bash -euo pipefail -c 'a'", []string{"a"}},
		{"bash script.sh x", []string{"bash script.sh x"}},
		{"eval 'a b'", []string{"eval a b", "a b"}},
		{"echo 'a b' | sh", []string{"echo a b", "sh", "a b"}},
		{"sh <<'E'\na\nb\nE", []string{"sh", "a", "b"}},
		{"cat <<'E'\n$(a)\nE", []string{"cat"}},
		{"cat <<E\n$(a)\nE", []string{"a", "cat"}},
		{"echo $(a `b`)", []string{"b", "a `b`", "echo $(a `b`)"}},
		{"diff <(a) <(b)", []string{"a", "b", "diff <(a) <(b)"}},
		{"xargs -n 1 -I{} a {}", []string{"a {}"}},
		{"echo x y | xargs a", []string{"echo x y", "a x y"}},
		{"find . -name x -exec a {} \\; -exec b {} +", []string{"find . -name x -exec a {} ; -exec b {} +", "a {}", "b {}"}},
		{"ssh -p 22 u@h 'a; b'", []string{"ssh -p 22 u@h a; b", "a", "b"}},
		{"timeout -k 1 5 a b", []string{"a b"}},
		{"nice -n 5 ionice -c3 a", []string{"a"}},
		{"time a", []string{"a"}},
		{"if a; then b; elif c; then d; else e; fi", []string{"a", "b", "c", "d", "e"}},
		{"while a; do b; done", []string{"a", "b"}},
		{"for i in x y; do a $i; done", []string{"a x", "a y"}},
		{"for i in *.c; do a $i; done", []string{"a *.c"}},
		{"case $x in a) b;; c) d;; esac", []string{"b", "d"}},
		{"f() { a $1; }; f z", []string{"a $1", "f z", "a z"}},
		{"X=a; Y=b; $X$Y", []string{"ab"}},
		{`X="a b"; $X c`, []string{"a b c"}},
		{`X="a b"; "$X" c`, []string{"a b c"}},
		{"a${IFS}b", []string{"a b"}},
		{"{a,b} {c,d}", []string{"a b c d"}},
		{"$(echo a) b", []string{"echo a", "a b"}},
		{"echo YSBi | base64 -d | sh", []string{"echo YSBi", "base64 -d", "sh", "a b"}},
		{"! a", []string{"a"}},
		{"[[ -n $(a) ]]", []string{"a"}},
		{"command -v a", []string{"command -v a"}},
		{"command a", []string{"a"}},
		{"env -S 'a b'", []string{"a b"}},
		{"watch -n 1 'a b'", []string{"a b"}},
		{"parallel a ::: x y", []string{"a x", "a y"}},
		{"docker exec -it box a b", []string{"docker exec -it box a b", "a b"}},
		{"kubectl exec -it p -c x -- a b", []string{"kubectl exec -it p -c x -- a b", "a b"}},
		{"docker compose exec -T web a", []string{"docker compose exec -T web a", "a"}},
		{"git -c alias.z='!a b' z", []string{"git -c alias.z=!a b z", "a b"}},
		{`python3 -c 'import os; os.system("a b")'`, []string{`python3 -c import os; os.system("a b")`, "a b"}},
		{`python3 -c 'subprocess.run(["a", "b"])'`, []string{`python3 -c subprocess.run(["a", "b"])`, "a b"}},
		{`python3 -c 'print("a b")'`, []string{`python3 -c print("a b")`}},
		{"trap 'a' EXIT", []string{"trap a EXIT", "a"}},
		{"sh -c 'a $1' _ z", []string{"a z"}},
		{"sudo -i <<E\na\nE", []string{"sh", "a"}},
		{"sudo -s 'a b; c'", []string{"a b", "c"}},
		{"echo 'a b' > >(sh)", []string{"echo a b", "sh", "a b"}},
		{"echo 'a b' | tee >(sh)", []string{"echo a b", "sh", "a b", "tee >(sh)"}},
		{"make -f - <<'E'\nX = b\nall:\n\t@a $(X)\nE", []string{"make -f -", "a b"}},
		{"make --eval='$(shell a b)'", []string{"make --eval=$(shell a b)", "a b"}},
		{"gdb -batch -ex 'shell a b'", []string{"gdb -batch -ex shell a b", "a b"}},
		{"sed '1e a b' f", []string{"sed 1e a b f", "a b"}},
		{"sed 's/x/a b/e' f", []string{"sed s/x/a b/e f", "a b"}},
		{"sed 's/x/a b/g' f", []string{"sed s/x/a b/g f"}},
		{"x $(dirname /a/b)", []string{"dirname /a/b", "x /a"}},
		{"# comment only", nil},
		{"", nil},
	}
	for _, tt := range tests {
		s := Parse(tt.src)
		if !s.Readable() {
			t.Errorf("%q: not readable: %v; want s.Readable()", tt.src, s.Err)
		}
		if got := renderRuns(s); !slices.Equal(got, tt.want) {
			t.Errorf("%q:\n got %q\nwant %q", tt.src, got, tt.want)
		}
	}
}

func findRun(t *testing.T, s Script, name string) *Run {
	t.Helper()
	for i := range s.Runs {
		if s.Runs[i].Name() == name {
			return &s.Runs[i]
		}
	}
	t.Fatalf("no run of %s in %q", name, renderRuns(s))
	return nil
}

func TestRunDetails(t *testing.T) {
	s := Parse(`sudo bash -c "curl x | sh -s -- -y"`)
	r := findRun(t, s, "sh")
	if !slices.Equal(r.Via, []string{"sudo", "bash -c"}) {
		t.Errorf(`via %q; want r.Via equal to []string{"sudo", "bash -c"}`, r.Via)
	}
	if r.From.Empty() || s.Runs[r.From.Lo].Name() != "curl" {
		t.Errorf(`from %v; want !r.From.Empty() and s.Runs[r.From.Lo].Name() == "curl"`, r.From)
	}
	if c := findRun(t, s, "curl"); c.To.Empty() {
		t.Error("curl is not seen to be piped on")
	}
	s = Parse("bash <(curl x)")
	if r := findRun(t, s, "bash"); r.Argv[1].From.Empty() || !r.Argv[1].Dynamic {
		t.Errorf("process substitution: %+v; want !r.Argv[1].From.Empty() and r.Argv[1].Dynamic", r.Argv[1])
	}
	s = Parse("A=1 b >out 2>&1 <in &")
	r = findRun(t, s, "b")
	if !r.Background || len(r.Assigns) != 1 || r.Assigns[0].Name != "A" || len(r.Redirects) != 3 {
		t.Errorf(`r = %+v, want r.Background, len(r.Assigns) = 1, r.Assigns[0].Name = "A" and len(r.Redirects) = 3`, r)
	}
	if !r.Redirects[0].Writes() || r.Redirects[1].Writes() || !r.Redirects[2].Reads() {
		t.Errorf("redirects %+v; want r.Redirects[0].Writes(), !r.Redirects[1].Writes() and "+
			"r.Redirects[2].Reads()", r.Redirects)
	}
	s = Parse("cd a && cd b; (cd c; x); y")
	if r := findRun(t, s, "x"); len(r.Dirs) != 3 || r.Dirs[2].Text != "c" {
		t.Errorf("dirs of x: %+v", r.Dirs)
	}
	if r := findRun(t, s, "y"); len(r.Dirs) != 2 {
		t.Errorf("dirs of y: %+v", r.Dirs)
	}
	s = Parse("git --config-env a.b=HOME -C d status")
	if r := findRun(t, s, "git"); len(r.Dirs) != 1 || r.Dirs[0].Text != "d" {
		t.Errorf("git -C d behind another option: want the folder d, got %+v", r.Dirs)
	}
	if r := findRun(t, Parse("ssh h a"), "a"); !r.Remote {
		t.Error("ssh is not remote")
	}
	if r := findRun(t, Parse("docker run --rm -v x:y img a"), "a"); !r.Contained {
		t.Error("docker run is not contained")
	}
	if r := findRun(t, Parse("f() { f | f & }; f"), "f"); r.Func != "f" || !r.Background {
		t.Errorf(`recursive function: %+v; want r.Func == "f" and r.Background`, r)
	}
	if r := findRun(t, Parse("export $(cat e | xargs)"), "cat"); r.Sink != "export" {
		t.Errorf(`sink %q, want "export"`, r.Sink)
	}
	if r := findRun(t, Parse("cat <<< hi"), "cat"); !r.HasInput || r.Input.Text != "hi" {
		t.Errorf(`herestring %+v; want r.HasInput and r.Input.Text == "hi"`, r.Input)
	}
}

func TestMounts(t *testing.T) {
	for _, src := range []string{
		"docker run -v /h:/in img a", "docker run --volume=/h:/in:ro img a", "podman run -v/h:/in img a",
		"docker run --mount type=bind,source=/h,target=/in img a",
		"docker run -v /h:/in/ img sh -c 'a'",
	} {
		r := findRun(t, Parse(src), "a")
		got, ok := r.OnHost(Word{Text: "/in/x"})
		if !ok || got.Text != "/h/x" {
			t.Errorf(`%q: %+v %v in %+v; want ok and got.Text == "/h/x"`, src, got, ok, r.Mounts)
		}
		if _, ok := r.OnHost(Word{Text: "/inside"}); ok {
			t.Errorf("%q: /inside is not below /in", src)
		}
	}
	if r := findRun(t, Parse("docker run -v data:/in img a"), "a"); len(r.Mounts) != 0 {
		t.Errorf("a named volume is not a directory: %+v", r.Mounts)
	}
	if w, ok := findRun(t, Parse("docker run -v /:/in img a"), "a").OnHost(Word{Text: "/in"}); !ok || w.Text != "/" {
		t.Errorf(`root: %+v %v; want ok and w.Text == "/"`, w, ok)
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		src     string
		text    string
		bare    string
		dynamic bool
		glob    bool
		tilde   bool
	}{
		{`x abc`, "abc", "abc", false, false, false},
		{`x 'a*b'`, "a*b", "a*b", false, false, false},
		{`x a*b`, "a*b", "a*b", false, true, false},
		{`x "$D/"`, "$D/", "/", true, false, false},
		{`x "${D:?}/"`, "${D:?}/", "x/", true, false, false},
		{`x "${D:-d}/e"`, "d/e", "d/e", true, false, false},
		{`x $HOME/a`, "$HOME/a", "$HOME/a", true, false, false},
		{`x ~/a`, "~/a", "~/a", false, false, true},
		{`x '~/a'`, "~/a", "~/a", false, false, false},
		{`D=$(mktemp -d); x "$D/a"`, "/tmp/mktemp.XXXXXX/a", "/tmp/mktemp.XXXXXX/a", false, false, false},
		{`x "$(pwd)/a"`, "$PWD/a", "$PWD/a", true, false, false},
		{`x $((1+1))`, "$((1+1))", "0", true, false, false},
	}
	for _, tt := range tests {
		r := findRun(t, Parse(tt.src), "x")
		w := r.Argv[1]
		if w.Text != tt.text || w.Bare != tt.bare || w.Dynamic != tt.dynamic || w.Glob != tt.glob ||
			w.Tilde != tt.tilde {
			t.Errorf("%q: w = %+v, want w.Text = %q, w.Bare = %q, w.Dynamic = %v, w.Glob = %v and w.Tilde = %v",
				tt.src, w, tt.text, tt.bare, tt.dynamic, tt.glob, tt.tilde)
		}
	}
}

func TestErrorsAreAClassOfTheirOwn(t *testing.T) {
	for _, src := range []string{"echo \"x", "if", "a (", "$((", "sh -c 'echo \"'"} {
		s := Parse(src)
		if s.Err == nil || s.Readable() {
			t.Errorf("%q: no error; want an error and !s.Readable()", src)
		}
	}
	// zsh only.
	if s := Parse("diff =(a) =(b)"); s.Err != nil {
		t.Errorf("zsh: %v", s.Err)
	}
}

func TestProgramPatterns(t *testing.T) {
	r := findRun(t, Parse("/bin/r? x"), "r?")
	if !r.MayBe("rm") || r.MayBe("ls") {
		t.Error("pattern as program word")
	}
}

// Whatever a line runs, it still runs inside these wrappers.
func TestWrappingKeepsRuns(t *testing.T) {
	inner := []string{"a b", "a 'b c' | d", "x=1; y $x", "for i in 1 2; do z $i; done", "sh -c 'q r'", "k <<E\nl\nE"}
	for _, in := range inner {
		want := renderRuns(Parse(in))
		q, err := syntax.Quote(in, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		for _, outer := range []string{"sh -c " + q, "sudo bash -c " + q, "env A=1 sh -c " + q, "(\n" + in + "\n)",
			"true && {\n" + in + "\n}", "echo \"$(\n" + in + "\n)\"", "ssh h " + q} {
			got := renderRuns(Parse(outer))
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("%q loses %q: %q; want w in got", outer, w, got)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a", "sudo sh -c 'a | b'", "a <<E\n$(b)\nE", "{a,b}{c,d}", "x=$(y); $x", "f(){ f; }; f",
		"0&00\xb3", "\xff'\"", "python -c 'system(\"x\")'", "env -S a", "$'\\U7fffffff'",
		"f(){\x00\x00,}&f", "f() { a {b,c}; }; f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s := Parse(src)
		if len(s.Runs) > maxRuns {
			t.Fatalf("%d runs; want len(s.Runs) <= maxRuns", len(s.Runs))
		}
		if strings.HasPrefix(errText(s.Err), "shell parser failed") {
			t.Fatalf(`s.Err = %v, want not strings.HasPrefix(errText(s.Err), "shell parser failed")`, s.Err)
		}
		for i := range s.Runs {
			r := &s.Runs[i]
			_, _ = r.String(), r.Name()
			r.Code()
			if r.From.Lo < 0 || r.From.Hi > len(s.Runs) || r.To.Hi > len(s.Runs) {
				t.Fatalf("span out of range: %+v", r)
			}
		}
	})
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, src string }{
		{"short", "git status && go test ./..."},
		{"three", "git add -A && git commit -m 'x' && git push"},
		{"wrapped", `sudo bash -c "rm -rf build"`},
		{"pipe", "cat a.txt | grep -v foo | sort | uniq -c > out.txt"},
		{"heredoc", "cat > a.txt <<'EOF'\nline one\nline two\nEOF\n"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(bb.src)
			}
		})
	}
}
