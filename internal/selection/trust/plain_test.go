package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// A tool is plain where nothing but what the user saw can run: /copy/seen is a trusted copy, /project the project.
func TestPlainTools(t *testing.T) {
	f := &TrustedContent{Root: "/project", copy: "/copy", files: map[string]bool{"seen": true}}
	for command, want := range map[string]bool{
		"awk '{print}'": true, "awk -F : '{print}'": true, "awk -v x=1 -- '{print}'": true, "awk -F: '{print}'": true,
		"awk": false, "awk -F": false, "awk -F :": false, "awk -f": false, "awk -f /copy/seen": true, "awk -f /copy/other": false,
		"awk -f prog.awk": false, "awk -v x=1 -f /copy/seen": true, "awk --posix '{print}'": false,
		"awk '{getline x}'": false, "awk '@load x'": false, "awk '{print | x}'": false, "awk '$1 || $2'": true,
		`awk "$X"`: false,
		"sed":      false, "sed s/a/b/": true, "sed -n p": true, "sed -": false, "sed - s/a/b/": false, "sed -n": false,
		"sed -f": false, "sed -f /copy/seen": true, "sed -f /copy/seen x": true, "sed -f x": false, "sed -e": false,
		"sed -e p": true, "sed -ne p x": true, "sed -e p -e": false, "sed -e p -e 'w x'": false, "sed -i p": false,
		"sed -e 'w x'": false, "sed 'w x'": false, "sed --posix p": false, `sed "$X"`: false, "sed -e p file": true,
		"sed -n -e p": true, "sed -nE s/a/b/p x": true,
		"osascript": false, "osascript -e": false, "osascript -e beep": true, "osascript -e beep -e": false,
		"osascript -e beep -e beep": true, "osascript beep": false, "osascript -e beep x.scpt": false,
		"osascript -e beep -e 'do SHELL Script \"x\"'": false,
		"jq .": true, "jq -f": false, "jq -f /copy/seen": true, "jq -f prog.jq": false, "jq -f /opt/prog.jq": true,
		"jq -f /project/prog.jq": false, "jq -f prog": false, "jq . -f": false, "jq --from-file=/copy/seen": true,
		"jq --from-file=prog.jq": false, "jq -Llib .": false, "jq -L/opt/lib .": true, "jq --from-files x": true,
		"curl -K": false, "curl --config /opt/rc": true, "curl -K/copy/seen": true,
		". /copy/seen": true, ".": false, ". /copy/other": false, "source /copy/seen a": true, "source x": false,
		"eval ls": true, `eval "$X"`: false, "sort -u": true, "sort --compress-program=x": false, "find . -exec x": false,
		"find . -okdir x": false, "rg --pre=x": false, "rg x": true,
	} {
		script := shell.Parse(command)
		run := script.Runs[0]
		check := plainTools()[run.Argv[0].Text]
		if got := check(f, run.Argv[1:]); got != want {
			t.Errorf("%s is plain: got %v, want %v", command, got, want)
		}
	}
}

func TestInterpretersOfACopy(t *testing.T) {
	f := &TrustedContent{Root: "/project", copy: "/copy", files: map[string]bool{"seen": true}}
	for command, want := range map[string]bool{
		"bash /copy/seen": true, "bash -x /copy/seen": true, "bash +x /copy/seen": true, "bash %x /copy/seen": false,
		"bash -o pipefail /copy/seen": true, "bash +o pipefail /copy/seen": true, "bash -o": false, "bash": false,
		"bash - /copy/seen": false, "bash -c x /copy/seen": false, "python3 +x /copy/seen": false, "python3 -u /copy/seen": true,
		"bash -- /copy/seen": false, "bash x /copy/seen": false,
	} {
		script := shell.Parse(command)
		if got := f.runPinned(&script.Runs[0]); got != want {
			t.Errorf("%s runs what was seen: got %v, want %v", command, got, want)
		}
	}
}

// A path is outside of the project by where it leads.
func TestPathsOutside(t *testing.T) {
	p := newPlace(t)
	p.write("tool", "x")
	outside := filepath.Join(p.dir, "outside")
	writeIn(t, p.dir, "plain", "x")
	if err := os.Symlink(filepath.Join(p.root, "tool"), outside); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", p.dir)
	f := &TrustedContent{Root: p.root, copy: filepath.Join(p.state, "copy"), files: map[string]bool{}}
	for path, want := range map[string]bool{
		filepath.Join(p.dir, "plain"): true, outside: false, filepath.Join(p.root, "tool"): false, "plain": false,
		"~/plain": true, "~/outside": false, "~/proj/tool": false, filepath.Join(p.dir, "none"): true,
		filepath.Join(p.state, "copy", "x"): false, "/proc/self/cwd/x": false, "/dev/fd/3": false, "/dev/stdin": false,
		"/dev/../dev/stdin": false, "/opt/x": true,
	} {
		if got := f.isOutside(path); got != want {
			t.Errorf("%s is outside: got %v, want %v", path, got, want)
		}
	}
}

// The files of a project that a command names, however it spells them.
func TestMentionedPaths(t *testing.T) {
	nest := func(depth int) string {
		target := "./deep.sh"
		for range depth {
			target = "sh -c " + quoteOnce(target)
		}
		return target
	}
	for target, want := range map[string]string{
		"./a.sh": "a.sh", "a.sh": "", "sh a.sh": "a.sh", "CONF=./a.json ./b.sh": "a.json|b.sh", "CONF= ./b.sh": "b.sh",
		"CONF=./a.json": "a.json", "x --conf=./a": "a", "x ./a=b": "a=b", "./x < data": "x|data", "./x > data": "x",
		"./x <> data": "x|data", "sh -c './a.sh x'": "a.sh|x", "sh -c": "", "bash -e -u -c './a.sh x'": "a.sh|x",
		"bash --norc -c './a.sh x'": "a.sh|x", "bash x -c './a.sh y'": "x|a.sh y", "bash -ec './a.sh x'": "a.sh|x",
		"bash -x ./a.sh": "a.sh", "eval './a.sh x'": "a.sh|x", "eval ./a.sh './b.sh x'": "a.sh|b.sh x",
		`./a\ b.sh`: "a b.sh", `"./a\"b.sh"`: `a"b.sh`, `"./a\nb.sh"`: `a\nb.sh`, `./a\nb.sh`: "anb.sh", `"./a\$b.sh"`: "a$b.sh",
		"./a\\\nb.sh": "ab.sh", `./a\\b.sh`: `a\b.sh`, "\"./a\\`b.sh\"": "a`b.sh", `'./a\b.sh'`: `a\b.sh`,
		`"$HOOKMUX_PROJECT"/a.sh`: "a.sh", `"$HOOKMUX_PROJECT"-old/a.sh`: "", `cd "$HOOKMUX_PROJECT"`: "",
		`"$HOOKMUX_PROJECT"/a"$HOOKMUX_PROJECT"`: "", `./a\`: `a\`, "./*.sh": "", "../a.sh": "", "/opt/a.sh": "", "/root/a.sh": "a.sh",
		"./node_modules/x": "", nest(5): "deep.sh", nest(6): "", nest(1): "deep.sh",
		"x ./" + strings.Repeat("a", 4094):    strings.Repeat("a", 4094),
		"x ./" + strings.Repeat("a", 4095):    "",
		"x ./a ./b ./a; if ./c; then ./d; fi": "a|b|c|d",
	} {
		got := mentionedPaths("/root", hook.Registration{Handler: "command", Target: target})
		if strings.Join(got, "|") != want {
			t.Errorf("%.100s names %.100q, want %.100q", target, got, want)
		}
	}
}

func quoteOnce(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// ReplacePrograms touches what is run, and nothing else.
func TestReplacePrograms(t *testing.T) {
	for target, want := range map[string]string{
		"/old/a x /old/b": "/new/a x /old/b", "/old/a; /old/b": "/new/a; /new/b", "python3 /old/a /old/b": "python3 /new/a /old/b",
		"python3 -u ~/old/a": "python3 -u /new/home/a", "~/old/a x": "/new/home/a x", "a /old/b": "a /old/b",
		"/old/a | env -i /old/b && sh /old/c": "/new/a | env -i /new/b && sh /new/c", "X=1": "X=1", "$X /old/a": "$X /old/a",
		"python3.12 /old/a": "python3.12 /new/a", "nodejs /old/a": "nodejs /new/a", "ash /old/a": "ash /new/a",
		"php8.2 /old/a": "php8.2 /new/a", "node20 /old/a": "node20 /new/a", "ghc -o /old/a /old/b": "ghc -o /old/a /old/b",
		"/usr/bin/Rscript /old/a": "/usr/bin/Rscript /new/a", "awk '{print}' /old/a": "awk '{print}' /old/a",
		"/old/'a b'": "'/new/a b'", "~/\"old\"/a": "/new/home/a", "'/old/a": "'/old/a", "~$X/old/a": "~$X/old/a",
	} {
		replace := func(path string) (string, bool) {
			if rest, ok := strings.CutPrefix(path, "/home/u/old/"); ok {
				return "/new/home/" + rest, true
			}
			rest, ok := strings.CutPrefix(path, "/old/")
			return "/new/" + rest, ok
		}
		for _, handler := range []string{"command", "script"} {
			if got := ReplacePrograms(hook.Registration{Handler: handler, Target: target}, "/home/u/", replace); got != want {
				t.Errorf("%s %s: got %s, want %s", handler, target, got, want)
			}
		}
		if got := ReplacePrograms(hook.Registration{Handler: hook.HandlerTypeScript, Target: target}, "/home/u", replace); got != target {
			t.Errorf("module %s: got %s, want it as it was", target, got)
		}
	}
	none := func(string) (string, bool) { return "/x", true }
	if got := ReplacePrograms(hook.Registration{Handler: "command", Target: "cat ~/a"}, "", none); got != "/x ~/a" {
		t.Errorf("without a home: got %s, want /x ~/a", got)
	}
}

// A change of anything that was looked at is noticed; nothing is noticed where nothing changed.
func TestChangesAreNoticed(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		change    func(p *place, path string)
		unchanged bool
	}{
		"nothing":  {func(*place, string) {}, true},
		"the size": {func(_ *place, path string) { os.WriteFile(path, []byte("longer"), 0o644); os.Chtimes(path, long, long) }, false},
		"the mode": {func(_ *place, path string) { os.Chmod(path, 0o700) }, false},
		"the time": {func(_ *place, path string) { os.Chtimes(path, long, long.Add(time.Second)) }, false},
		"another file of the same look": {func(p *place, path string) {
			os.WriteFile(path+"2", []byte("1"), 0o644)
			os.Chtimes(path+"2", long, long)
			os.Rename(path+"2", path)
			os.Chtimes(p.root, long, long)
		}, false},
		"it is gone": {func(p *place, path string) { os.Remove(path); os.Chtimes(p.root, long, long) }, false},
		"what was not there is": {func(p *place, _ string) {
			p.write("missing", "x")
			os.Chtimes(p.root, long, long)
		}, false},
	} {
		p := newPlace(t)
		p.write("named", "1")
		p.write(hooksFile, file(command("a", "cat ./named ./missing")))
		path := filepath.Join(p.root, "named")
		for _, old := range []string{path, filepath.Join(p.root, hooksFile), filepath.Join(p.root, dirName), p.root} {
			if err := os.Chtimes(old, long, long); err != nil {
				t.Fatal(err)
			}
		}
		content, err := p.collectContent(p.root, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.change(p, path)
		if got := content.isUnchanged(); got != c.unchanged {
			t.Errorf("%s: got unchanged %v, want %v", name, got, c.unchanged)
		}
	}
	// Within 50 ms of the look two changes may carry the same time.
	p := newPlace(t)
	if err := os.Chtimes(p.root, long, long); err != nil {
		t.Fatal(err)
	}
	content, err := p.collectContent(p.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[int]bool{-60: true, -50: true, -49: false, 0: false, 49: false, 50: true, 60: true} {
		content.at = content.seen[0].info.ModTime().Add(time.Duration(after) * time.Millisecond)
		if got := content.isUnchanged(); got != want {
			t.Errorf("looked at %d ms after the change: got unchanged %v, want %v", after, got, want)
		}
	}
}

// The limits themselves are still allowed.
func TestLimitsOfContent(t *testing.T) {
	for name, setup := range map[string]func(p *place){
		"folders": func(p *place) { p.write(dirName+strings.Repeat("/d", maxFolders)+"/f", "") },
		"files": func(p *place) {
			for i := range maxFiles - 1 {
				p.write(dirName+"/"+strings.Repeat("x", i+1)[:min(i+1, 200)]+strings.Repeat("y", i/200), "")
			}
		},
	} {
		p := newPlace(t)
		p.write(hooksFile, file(command("a", "true")))
		setup(p)
		if _, err := p.Trust(p.root, ""); err != nil {
			t.Errorf("as many %s as are allowed: got %v, want them trusted", name, err)
		}
	}
	c := &content{root: t.TempDir(), bytes: map[string][]byte{}}
	writeIn(t, c.root, "ten", "0123456789")
	for total, want := range map[int64]bool{maxTotal - 10: true, maxTotal - 9: false} {
		c.total = total
		if err := c.addFile("ten"); (err == nil) != want {
			t.Errorf("ten bytes beside %d: got error %v, want them taken %v", total, err, want)
		}
	}
	p := newPlace(t)
	for i := range maxProjects + 5 {
		p.InForce(filepath.Join(p.dir, "none", strings.Repeat("x", i%200+1), strings.Repeat("y", i/200+1)))
		if len(p.projects) > maxProjects {
			t.Fatalf("%d projects are remembered, want at most %d", len(p.projects), maxProjects)
		}
	}
	if len(p.projects) != 5 {
		t.Errorf("%d projects are remembered after %d, want those since the list was full, 5", len(p.projects),
			maxProjects+5)
	}
}

// Of a working tree stays in force what was trusted there, on its branch if any.
func TestLastTrusted(t *testing.T) {
	r := &record{Trusted: []trusted{
		{Hash: "1", Root: "/a", Branch: "main"}, {Hash: "2", Root: "/a", Branch: "next"}, {Hash: "3", Root: "/b", Branch: "main"},
	}}
	for _, c := range []struct{ root, branch, want string }{
		{"/a", "main", "1"}, {"/a", "next", "2"}, {"/a", "other", "2"}, {"/b", "next", "3"}, {"/c", "main", "3"},
	} {
		if got := r.lastTrusted(c.root, c.branch); got == nil || got.Hash != c.want {
			t.Errorf("%s on %s: got %+v, want content %s", c.root, c.branch, got, c.want)
		}
	}
	if got := (&record{}).lastTrusted("/a", "main"); got != nil {
		t.Errorf("nothing was trusted: got %+v, want nothing", got)
	}
}

func TestCopiesWithoutFiles(t *testing.T) {
	p := newPlace(t)
	if err := p.verifyCopy(filepath.Join(p.dir, "none"), nil); err == nil {
		t.Error("a copy that is not there: got no error, want one")
	}
	if err := p.verifyCopy(p.root, nil); err != nil {
		t.Errorf("an empty copy: got %v, want no error", err)
	}
	p.write("a", "x")
	if err := p.fresh().verifyCopy(p.root, []File{{Path: "a", Sum: "other"}}); err == nil {
		t.Error("a copy with another content: got no error, want one")
	}
}

func TestShown(t *testing.T) {
	f := &TrustedContent{Root: "/project", copy: "/state/copy"}
	if got := f.Shown("/state/copy/a.ts:3: wrong"); got != "/project/a.ts:3: wrong" {
		t.Errorf("got %q, want the project's own path", got)
	}
	for _, none := range []*TrustedContent{nil, {Root: "/project"}} {
		if got := none.Shown("/state/copy/a.ts"); got != "/state/copy/a.ts" {
			t.Errorf("without a copy: got %q, want the text as it is", got)
		}
	}
}

// What is wrong with hooks that cannot be read is said, and that the trusted ones stay.
func TestBrokenHooksAreNamed(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "true")))
	p.trust()
	p.write(hooksFile, "{ broken")
	if f := p.want(Changed); !strings.Contains(f.Problem, "invalid character") ||
		!strings.Contains(f.Problem, "stay in force") {
		t.Errorf("problem %q, want what is wrong and that the trusted hooks stay in force", f.Problem)
	}
	p.write(hooksFile, file(command("b", "true")))
	if f := p.want(Changed); !strings.Contains(f.Problem, "its hooks changed") {
		t.Errorf("problem %q, want that its hooks changed", f.Problem)
	}
}
