package trust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/hook"
	platformsealed "github.com/hookmux/hookmux/internal/platform/sealed"
)

func parse(data []byte) ([]hook.Registration, error) {
	var file struct{ Hooks []hook.Registration }
	err := json.Unmarshal(data, &file)
	return file.Hooks, err
}

type place struct {
	*Store
	t         *testing.T
	dir, root string
	state     string
}

func newPlace(t *testing.T) *place {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir, root: filepath.Join(dir, "proj"), state: filepath.Join(dir, "state")}
	p.Store = New(Options{State: p.state, Parse: parse})
	os.MkdirAll(p.root, 0o755)
	return p
}

func (p *place) fresh() *Store { return New(Options{State: p.state, Parse: parse}) }

func (p *place) write(rel, text string) {
	p.t.Helper()
	writeIn(p.t, p.root, rel, text)
}

func writeIn(t *testing.T, root, rel, text string) {
	t.Helper()
	path := filepath.Join(root, rel)
	os.MkdirAll(filepath.Dir(path), 0o755)
	mode := os.FileMode(0o644)
	if strings.HasSuffix(rel, ".sh") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func command(id, target string) string {
	raw, _ := json.Marshal(hook.Registration{ID: id, Agent: "*", HookType: "tool.before", Handler: "command",
		Target: target})
	return string(raw)
}

func file(regs ...string) string { return `{"hooks": [` + strings.Join(regs, ", ") + `]}` }

func (p *place) want(status Status) *TrustedContent {
	p.t.Helper()
	f := p.InForce(p.root)
	if again := p.fresh().InForce(p.root); again.Status != f.Status || again.Hooks != f.Hooks {
		p.t.Errorf("after a restart it is %s %s", again.Status, again.Hooks)
	}
	if f.Status != status {
		p.t.Errorf("%s, want %s (%s)", f.Status, status, f.Problem)
	}
	return f
}

func (p *place) trust() *TrustedContent {
	p.t.Helper()
	f, err := p.Trust(p.root, "")
	if err != nil || f.Status != Trusted {
		p.t.Fatalf("f = %+v, error %v; want no error and f.Status = Trusted", f, err)
	}
	return f
}

func TestLife(t *testing.T) {
	p := newPlace(t)
	if f := p.want(Absent); f.Hooks != "" || f.Problem != "" {
		t.Errorf(`f = %+v, want f.Hooks = "" and f.Problem = ""`, f)
	}
	if _, err := p.Trust(p.root, ""); err == nil || !strings.Contains(err.Error(), "nothing to trust") {
		t.Errorf(`error %v, want an error and "nothing to trust" in err.Error()`, err)
	}
	first := file(command("a", "./check.sh --strict"))
	p.write(hooksFile, first)
	p.write("check.sh", "#!/bin/sh\necho one\n")
	if f := p.want(Untrusted); f.Hooks != "" || !strings.Contains(f.Problem, "hookmux trust") {
		t.Errorf(`f = %+v, want f.Hooks = "" and "hookmux trust" in f.Problem`, f)
	}
	f := p.trust()
	if got, _ := os.ReadFile(f.Hooks); string(got) != first || f.ShownAs != filepath.Join(p.root, hooksFile) {
		t.Errorf("got %s, f.ShownAs = %s; want string(got) = %q and f.ShownAs = %q",
			got, f.ShownAs, first, filepath.Join(p.root, hooksFile))
	}
	if p.InForce(p.root).Hooks != f.Hooks {
		t.Error("not stable; want p.InForce(p.root).Hooks == f.Hooks")
	}

	// The script changes: the copy runs on.
	p.write("check.sh", "#!/bin/sh\necho two\n")
	f = p.want(Changed)
	reg, err := f.Rewrite(hook.Registration{ID: "a", Handler: "command", Target: "./check.sh --strict"})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", "-c", reg.Target).CombinedOutput(); err != nil || string(out) != "one\n" {
		t.Errorf(`out = %s, error %v, reg.Target = %s; want no error and string(out) = "one\n"`, out, err, reg.Target)
	}
	// And so it does when hooks are changed, broken, or deleted.
	p.write("check.sh", "#!/bin/sh\necho one\n")
	p.want(Trusted)
	for _, text := range []string{file(), "{ broken"} {
		p.write(hooksFile, text)
		if f := p.want(Changed); f.Hooks == "" || f.Problem == "" {
			t.Errorf("%q: f = %+v, want f.Hooks not empty and f.Problem not empty", text, f)
		}
	}
	os.RemoveAll(filepath.Join(p.root, ".hookmux"))
	if f := p.want(Changed); f.Hooks == "" {
		t.Error("deleting the folder switched its hooks off")
	}
	if !p.Known(p.root) || p.Known(p.dir) {
		t.Error("a deleted project is not known, or another is")
	}
	// The user may agree with that.
	if f := p.trust(); f.Hooks != "" {
		t.Errorf(`f.Hooks = %q, want ""`, f.Hooks)
	}
	p.write(hooksFile, first)
	if f := p.want(Changed); f.Hooks != "" { // seen before, but given up since
		t.Errorf(`f.Hooks = %q, want ""`, f.Hooks)
	}
	p.trust()
	if err := p.Untrust(p.root); err != nil {
		t.Fatal(err)
	}
	p.want(Untrusted)
	if p.Known(p.root) {
		t.Error("still known; want !p.Known(p.root)")
	}
}

func TestEveryFileIsCovered(t *testing.T) {
	setup := func() *place {
		p := newPlace(t)
		p.write(hooksFile, file(
			command("a", `python3 tools/check.py --rules=tools/rules.json < tools/in.txt > out.txt`),
			command("b", `"$HOOKMUX_PROJECT"/b.sh && sh -c 'exec ./inner.sh'`),
			`{"id":"c","agent":"*","hookType":"*","handler":"script","target":"c.sh x"}`,
			`{"id":"d","agent":"*","hookType":"*","handler":"typescript","target":"mod/d.ts"}`))
		for _, f := range []string{".hookmux/lib/x.txt", ".hookmux/config.json", "tools/check.py", "tools/rules.json",
			"tools/in.txt", "out.txt", "b.sh", "inner.sh", "c.sh", "mod/d.ts", "other.txt"} {
			p.write(f, "1")
		}
		p.trust()
		return p
	}
	for _, f := range []string{".hookmux/lib/x.txt", ".hookmux/lib/new.txt", ".hookmux/config.json", "tools/check.py",
		"tools/rules.json", "tools/in.txt", "b.sh", "inner.sh", "c.sh", "mod/d.ts"} {
		p := setup()
		p.write(f, "2")
		if got := p.InForce(p.root).Status; got != Changed {
			t.Errorf("%s changed and the project is %s", f, got)
		}
	}
	p := setup()
	p.write("other.txt", "2")
	p.write("out.txt", "2") // written by the hook itself
	p.want(Trusted)
	os.Chmod(filepath.Join(p.root, "b.sh"), 0o644)
	p.want(Changed)
}

func TestRewrite(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "./a.sh tools/x.json --c=tools/x.json"),
		command("n", "node_modules/.bin/eslint src")))
	p.write("a.sh", "1")
	p.write("tools/x.json", "1")
	p.write("with space.sh", "1")
	p.write(".hookmux/h.sh", "1")
	p.write("node_modules/.bin/eslint", "1")
	f := p.trust()
	c := f.copy
	for target, want := range map[string]string{
		`./a.sh`:                         c + "/a.sh",
		`FOO=1 ./a.sh "x y" | cat`:       "FOO=1 " + c + `/a.sh "x y" | cat`,
		`sh tools/x.json; echo ok`:       "sh " + c + "/tools/x.json; echo ok",
		`t --c=tools/x.json`:             "t --c=" + c + "/tools/x.json",
		`"${CLAUDE_PROJECT_DIR}"/a.sh`:   c + "/a.sh",
		`$HOOKMUX_PROJECT/.hookmux/h.sh`: c + "/.hookmux/h.sh",
		`bash -ec './a.sh && true'`:      "bash -ec '" + c + "/a.sh && true'",
		`eval "./a.sh"`:                  "eval " + c + "/a.sh",
		p.root + `/a.sh`:                 c + "/a.sh",
		`./later.sh`:                     c + "/later.sh", // not trusted: will not be found
		`x/../a.sh`:                      c + "/a.sh",
		`/bin/echo a.sh.txt`:             `/bin/echo a.sh.txt`,
		`echo $(./a.sh) "$X/a.sh"`:       "echo $(" + c + `/a.sh) "$X/a.sh"`,
		`echo hi > a.log`:                `echo hi > a.log`,
		`node_modules/.bin/eslint src`:   `node_modules/.bin/eslint src`,
		`../a.sh`:                        `../a.sh`,
		`ls *.sh`:                        `ls *.sh`,
		`if`:                             `if`,
		`a.sh`:                           `a.sh`, // found through PATH
		"cat <<E\n./a.sh\nE":             "cat <<E\n./a.sh\nE",
	} {
		got, err := f.Rewrite(hook.Registration{ID: "x", Handler: "command", Target: target})
		if err != nil || got.Target != want {
			t.Errorf("%s: %s, %v; want %s", target, got.Target, err, want)
		}
	}
	got, err := f.Rewrite(hook.Registration{ID: "x", Handler: "script", Target: "a.sh -v"})
	if err != nil || got.Target != c+"/a.sh -v" {
		t.Errorf("got.Target = %q, error %v; want no error and got.Target = %q", got.Target, err, c+"/a.sh -v")
	}
	p.write("later.txt", "1")
	if _, err := f.Rewrite(hook.Registration{ID: "x", Handler: "command", Target: "sh later.txt"}); err == nil {
		t.Error("a file that came later would be run")
	}
}

func TestRefused(t *testing.T) {
	for name, setup := range map[string]func(p *place){
		"symlink out of the project": func(p *place) {
			writeIn(p.t, p.dir, "evil.sh", "x")
			os.Symlink("../../evil.sh", filepath.Join(p.root, ".hookmux", "evil.sh"))
		},
		"named symlink|symlink out of the project": func(p *place) {
			writeIn(p.t, p.dir, "evil.sh", "x")
			p.write(hooksFile, file(command("a", "./link.sh")))
			os.Symlink("../evil.sh", filepath.Join(p.root, "link.sh"))
		},
		"symlink to a folder": func(p *place) {
			p.write("sub/x", "x")
			os.Symlink("../sub", filepath.Join(p.root, ".hookmux", "sub"))
		},
		"leads nowhere": func(p *place) { os.Symlink("nothing", filepath.Join(p.root, ".hookmux", "l")) },
		"larger than": func(p *place) {
			p.write(".hookmux/big", "")
			os.Truncate(filepath.Join(p.root, ".hookmux/big"), maxFileSize+1)
		},
		"name fewer files": func(p *place) {
			for i := range maxFiles { // beside hooks.json
				p.write(fmt.Sprintf(".hookmux/%d", i), "")
			}
		},
		"invalid character": func(p *place) { p.write(hooksFile, "{ broken") },
		"nested too deep":   func(p *place) { p.write(".hookmux"+strings.Repeat("/d", 12)+"/f", "") },
	} {
		p := newPlace(t)
		p.write(hooksFile, file(command("a", "true")))
		setup(p)
		_, want, found := strings.Cut(name, "|")
		if !found {
			want = name
		}
		if _, err := p.Trust(p.root, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want an error and %q in err.Error()", name, err, want)
		}
		if f := p.want(Untrusted); f.Hooks != "" || !strings.Contains(f.Problem, want) {
			t.Errorf(`%s: f = %+v, want f.Hooks = "" and %q in f.Problem`, name, f, want)
		}
		if v, err := p.Inspect(p.root, nil); err != nil || v.Problem == "" || v.Hash != "" {
			t.Errorf(`%s: v = %+v, error %v; want no error, v.Problem not empty and v.Hash = ""`, name, v, err)
		}
	}
}

func TestSymlinkWithinTheProject(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", ".hookmux/l.sh")))
	p.write("tools/real.sh", "1")
	os.Symlink("../tools/real.sh", filepath.Join(p.root, ".hookmux", "l.sh"))
	p.trust()
	p.write("tools/real.sh", "2")
	p.want(Changed)
}

func TestTrustOnlyWhatWasSeen(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "true")))
	v, err := p.Inspect(p.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.write(hooksFile, file(command("a", "false")))
	if _, err := p.Trust(p.root, v.Hash); err == nil || !strings.Contains(err.Error(), "changed since you looked") {
		t.Errorf(`error %v, want an error and "changed since you looked" in err.Error()`, err)
	}
	p.want(Untrusted)
}

func TestLook(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "./a.sh"), command("make", "cd x && make lint"), command("dyn", "$TOOL x"),
		command("plain", "grep -q x")))
	p.write("a.sh", "1")
	globals := []hook.Registration{{ID: "a"}, {ID: "plain", Locked: true}, {ID: "other"}}
	v, err := p.Inspect(p.root, globals)
	if err != nil || v.Status != Untrusted || len(v.Files) != 2 || len(v.Runs) != 4 {
		t.Fatalf("v = %+v, error %v; want no error, v.Status = Untrusted, len(v.Files) = 2 and len(v.Runs) = 4", v, err)
	}
	if len(v.Replaces) != 1 || v.Replaces[0] != "a" {
		t.Errorf(`v.Replaces = %q, want 1 of them and v.Replaces[0] = "a"`, v.Replaces)
	}
	if v.Runs[0].ProjectCode || len(v.Runs[0].Files) != 1 || !v.Runs[1].ProjectCode || !v.Runs[2].ProjectCode ||
		v.Runs[3].ProjectCode {
		t.Errorf("v.Runs = %+v, want not v.Runs[0].ProjectCode, len(v.Runs[0].Files) = 1, v.Runs[1].ProjectCode, "+
			"v.Runs[2].ProjectCode and not v.Runs[3].ProjectCode", v.Runs)
	}
	p.trust()
	p.write(hooksFile, file(command("a", "./a.sh -x"), command("new", "true"), command("dyn", "$TOOL x"),
		command("plain", "grep -q x")))
	p.write("a.sh", "2")
	p.write(".hookmux/more", "")
	v, _ = p.Inspect(p.root, nil)
	if got := fmt.Sprint(v.Changes); got != "[.hookmux/hooks.json changed .hookmux/more added a.sh changed hook a "+
		"changed hook new added hook make removed]" {
		t.Errorf(`fmt.Sprint(v.Changes) = %q, want "[.hookmux/hooks.json changed .hookmux/more added a.sh changed `+
			`hook a changed hook new added hook make removed]"`, got)
	}
	if was, is := p.Texts(p.root, "a.sh"); string(was) != "1" || string(is) != "2" {
		t.Errorf(`was = %s, is = %s; want string(was) = "1" and string(is) = "2"`, was, is)
	}
}

func TestRetrust(t *testing.T) {
	p := newPlace(t)
	one, two := file(command("a", "true")), file(command("a", "true"), command("b", "./b.sh"))
	p.write("b.sh", "1")
	// The first hook of a project that had none.
	p.write(hooksFile, one)
	if err := p.Retrust(p.root, hooksFile, nil, []byte(one)); err != nil {
		t.Fatal(err)
	}
	p.want(Trusted)
	// One more, naming a file.
	p.write(hooksFile, two)
	p.want(Changed)
	if err := p.Retrust(p.root, hooksFile, []byte(one), []byte(two)); err != nil {
		t.Fatal(err)
	}
	p.want(Trusted)
	// Settings of the project likewise.
	p.write(".hookmux/config.json", "{}")
	if err := p.Retrust(p.root, filepath.Join(p.root, ".hookmux/config.json"), nil, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	p.want(Trusted)

	refuse := func(before, after, want string) {
		t.Helper()
		if err := p.Retrust(p.root, hooksFile, []byte(before), []byte(after)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want an error and %q in err.Error()", err, want)
		}
		p.want(Changed)
	}
	// The file holds something other than the edit.
	p.write(hooksFile, file(command("evil", "true")))
	refuse(two, one, "another program")
	// It was something else before.
	p.write(hooksFile, one)
	refuse(file(command("evil", "true")), one, "not trusted before")
	// Another file changed as well.
	p.write("b.sh", "2")
	refuse(two, one, "not trusted before")
	p.write("b.sh", "1")
	p.write(".hookmux/x", "2")
	refuse(two, one, "not trusted before")
}

func TestWorktreesShareTrust(t *testing.T) {
	p := newPlace(t)
	git := filepath.Join(p.root, ".git")
	writeIn(t, git, "HEAD", "ref: refs/heads/main\n")
	text := file(command("a", "true"))
	writeIn(t, p.root, "pkg/"+hooksFile, text)
	if f, err := p.Trust(filepath.Join(p.root, "pkg"), ""); err != nil || f.Status != Trusted {
		t.Fatalf("f = %+v, error %v; want no error and f.Status = Trusted", f, err)
	}
	tree := func(name, back string) string {
		root := filepath.Join(p.dir, name)
		private := filepath.Join(git, "worktrees", name)
		writeIn(t, private, "commondir", "../..\n")
		writeIn(t, private, "gitdir", back+"\n")
		writeIn(t, root, ".git", "gitdir: "+private+"\n")
		writeIn(t, root, "pkg/"+hooksFile, text)
		return root
	}
	status := func(root string) Status { return p.InForce(filepath.Join(root, "pkg")).Status }
	if got := status(tree("wt", filepath.Join(p.dir, "wt", ".git"))); got != Trusted {
		t.Errorf("a working tree is %s", got)
	}
	if got := status(tree("rel", "../../../../rel/.git")); got != Trusted {
		t.Errorf("a working tree with relative paths is %s", got)
	}
	// Other content in another tree: what was trusted stays in force there.
	other := tree("other", filepath.Join(p.dir, "other", ".git"))
	writeIn(t, other, "pkg/"+hooksFile, file())
	if f := p.InForce(filepath.Join(other, "pkg")); f.Status != Changed || f.Hooks == "" {
		t.Errorf("f = %+v, want f.Status = Changed and f.Hooks not empty", f)
	}
	if f, err := p.Trust(filepath.Join(other, "pkg"), ""); err != nil || f.Status != Trusted {
		t.Errorf("f = %+v, error %v; want no error and f.Status = Trusted", f, err)
	}
	if got := status(p.root); got != Trusted {
		t.Errorf("trusting one tree made another %s", got)
	}
	// The same content elsewhere in the tree, or in a tree that only claims to
	// belong to the repository, is a stranger's.
	writeIn(t, p.root, "else/"+hooksFile, text)
	if got := p.InForce(filepath.Join(p.root, "else")).Status; got != Untrusted {
		t.Errorf("another folder is %s", got)
	}
	if got := status(tree("liar", filepath.Join(p.dir, "wt", ".git"))); got != Untrusted {
		t.Errorf("a tree the repository does not know is %s", got)
	}
	claims := filepath.Join(p.dir, "claims")
	writeIn(t, claims, "pkg/"+hooksFile, text)
	writeIn(t, claims, ".git", "gitdir: "+git+"\n")
	if got := status(claims); got != Untrusted {
		t.Errorf("a folder that claims a git folder is %s", got)
	}
	fake := filepath.Join(p.dir, "fake")
	writeIn(t, fake, "pkg/"+hooksFile, text)
	writeIn(t, fake, "g/worktrees/x/commondir", git)
	writeIn(t, fake, "g/worktrees/x/gitdir", filepath.Join(fake, ".git"))
	writeIn(t, fake, ".git", "gitdir: g/worktrees/x\n")
	if got := status(fake); got != Untrusted {
		t.Errorf("a made-up working tree is %s", got)
	}
}

func TestDamagedState(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "true")))
	f := p.trust()
	os.Chmod(f.Hooks, 0o600)
	if err := os.WriteFile(f.Hooks, []byte(file(command("a", "false"))), 0o600); err != nil {
		t.Fatal(err)
	}
	p.write(hooksFile, file(command("a", "echo other"))) // so that nothing can fix it
	if f := p.fresh().InForce(p.root); f.Status != Untrusted || f.Hooks != "" ||
		!strings.Contains(f.Problem, "damaged") {
		t.Errorf(`f = %+v, want f.Status = Untrusted, f.Hooks = "" and "damaged" in f.Problem`, f)
	}
	s := p.fresh()
	if f, err := s.Trust(p.root, ""); err != nil || f.Status != Trusted {
		t.Errorf("f = %+v, error %v; want no error and f.Status = Trusted", f, err)
	}
	records, _ := filepath.Glob(filepath.Join(p.state, "trust", "*", "trust.json"))
	if len(records) != 1 {
		t.Fatalf("records = %q, want 1 of them", records)
	}
	if info, _ := os.Stat(records[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("info.Mode() = %v, want info.Mode().Perm() = 0o600", info.Mode())
	}
	os.WriteFile(records[0], []byte("{"), 0o600)
	if f := p.fresh().InForce(p.root); f.Status != Untrusted || f.Hooks != "" {
		t.Errorf(`f = %+v, want f.Status = Untrusted and f.Hooks = ""`, f)
	}
	if f, err := p.fresh().Trust(p.root, ""); err != nil || f.Status != Trusted {
		t.Errorf("f = %+v, error %v; want no error and f.Status = Trusted", f, err)
	}
}

// A record that something else wrote, or that belongs to another project, trusts
// nothing.
func TestForgedRecordTrustsNothing(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "true")))
	p.trust()
	records, _ := filepath.Glob(filepath.Join(p.state, "trust", "*", "trust.json"))
	if len(records) != 1 {
		t.Fatalf("records = %q, want 1 of them", records)
	}
	whole, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	var sealed struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(whole, &sealed); err != nil {
		t.Fatal(err)
	}
	moved, err := platformsealed.Seal(p.state, recordName("another"), sealed.Content)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"without a seal": sealed.Content, "of another project": moved,
		"changed": bytes.Replace(whole, []byte("hooks.json"), []byte("hooks.jsom"), 1),
	} {
		if err := os.WriteFile(records[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		f := p.fresh().InForce(p.root)
		if f.Status != Untrusted || f.Hooks != "" || !strings.Contains(f.Problem, "changed by something else") {
			t.Errorf("a record %s: %+v, want nothing to be trusted", what, f)
		}
	}
	if err := os.WriteFile(records[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := p.fresh().InForce(p.root); f.Status != Trusted {
		t.Errorf("the record as it was: %+v", f)
	}
}

func TestNoticeOnce(t *testing.T) {
	p := newPlace(t)
	notice := func(want bool) {
		t.Helper()
		if text, got := p.fresh().Notice(p.root); got != want || got && text == "" {
			t.Errorf(`got %v, text = %q; want %v and not got && text == ""`, got, text, want)
		}
	}
	notice(false)
	p.write(hooksFile, file(command("a", "true")))
	notice(true)
	notice(false)
	p.trust()
	notice(false)
	p.write(hooksFile, file(command("a", "false")))
	notice(true)
	notice(false)
}

func TestOldContentsAreForgotten(t *testing.T) {
	p := newPlace(t)
	for i := range maxTrusted + 3 {
		p.write(hooksFile, file(command("a", fmt.Sprint("echo ", i))))
		p.trust()
	}
	copies, _ := filepath.Glob(filepath.Join(p.state, "trust", "*", "*", ".hookmux"))
	if len(copies) != maxTrusted {
		t.Errorf("len(copies) = %v, want maxTrusted", len(copies))
	}
}

// A copy that somebody changes while a daemon runs is not believed any more, even if its
// size and its time are what they were. Where the project still holds what was
// trusted the copy is made anew.
func TestCopiesThatChangeWhileADaemonRuns(t *testing.T) {
	p := newPlace(t)
	const one, forged = "version: 1\nrules: [] # aaa\n", "version: 1\nrules: [] # bbb\n"
	p.write(".hookmux/rules/a.yaml", one)
	p.trust()
	forge := func() *TrustedContent {
		t.Helper()
		f := p.want(Trusted)
		copied := f.CopyOf(".hookmux/rules/a.yaml")
		if f != p.InForce(p.root) {
			t.Error("nothing changed, and something else is in force; want the same")
		}
		info, err := os.Stat(copied)
		if err == nil {
			err = os.Chmod(copied, 0o600)
		}
		if err == nil {
			err = os.WriteFile(copied, []byte(forged), 0o600)
		}
		if err == nil {
			err = os.Chtimes(copied, info.ModTime(), info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := forge()
	fixed := p.InForce(p.root)
	data, err := os.ReadFile(f.CopyOf(".hookmux/rules/a.yaml"))
	if fixed.Status != Trusted || string(data) != one || err != nil {
		t.Errorf("%s, the copy holds %q, %v; want it fixed", fixed.Status, data, err)
	}
	forge()
	p.write(".hookmux/rules/a.yaml", one+"# more\n")
	damaged := p.InForce(p.root)
	if !damaged.Damaged || damaged.Status != Untrusted || len(damaged.RuleFiles()) > 0 ||
		!strings.Contains(damaged.Problem, "damaged") {
		t.Errorf("%s, %q with %v; want that the copy is damaged and nothing of it counts", damaged.Status,
			damaged.Problem, damaged.RuleFiles())
	}
	if damaged != p.InForce(p.root) {
		t.Error("nothing changed, and something else is in force; want the same")
	}
	p.write(".hookmux/rules/a.yaml", one)
	p.want(Trusted)
}
