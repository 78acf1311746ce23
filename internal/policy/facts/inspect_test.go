package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/shell"
)

// words makes plain words of a line.
func words(line string) []shell.Word {
	var out []shell.Word
	for _, f := range strings.Fields(line) {
		out = append(out, shell.Word{Text: f, Bare: f, Tilde: strings.HasPrefix(f, "~"),
			Dynamic: strings.Contains(f, "$")})
	}
	return out
}

func join(ws []shell.Word) string { return JoinArgs(ws) }

func TestSplitFlags(t *testing.T) {
	for _, tt := range []struct{ line, flags, rest string }{
		{"-a b --c d", "-a --c", "b d"},
		{"-a -- -b", "-a", "-b"},
		{"- x", "", "- x"},
		{"", "", ""},
		{"--", "", ""},
	} {
		flags, rest := SplitFlags(words(tt.line))
		if join(flags) != tt.flags || join(rest) != tt.rest {
			t.Errorf("SplitFlags(%q) = %q, %q; want %q, %q", tt.line, join(flags), join(rest), tt.flags, tt.rest)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		line string
		r    bool // has -r
		long bool // has --recursive
	}{
		{"-r", true, false}, {"-fr", true, false}, {"-rf", true, false}, {"-f", false, false}, {"--r", false,
			true}, {"-",
			false, false},
		{"--recursive", false, true}, {"--recursive=yes", false, true}, {"--rec", false, true}, {"--recursively",
			false,
			false},
		{"--", false, false}, {"--e", false, false}, {"", false, false},
	} {
		if got := HasShort(words(tt.line), 'r'); got != tt.r {
			t.Errorf("HasShort(%q, r) = %v, want %v", tt.line, got, tt.r)
		}
		if got := HasLong(words(tt.line), "--recursive"); got != tt.long {
			t.Errorf("HasLong(%q, --recursive) = %v, want %v", tt.line, got, tt.long)
		}
	}
	if !HasWord(words("a b"), "x", "b") || HasWord(words("a b"), "c") {
		t.Error("HasWord does not find whole words")
	}
	if !HasPhrase("a b c", "b c") || HasPhrase("a bb c", "b c") || !HasPhrase("b", "b") {
		t.Error("HasPhrase does not find whole words")
	}
}

func TestSplitTarget(t *testing.T) {
	for _, tt := range []struct {
		line, to, sources string
		ok                bool
	}{
		{"a b c", "c", "a b", true},
		{"a", "", "", false},
		{"-t d a b", "d", "a b", true},
		{"-td a", "d", "a", true},
		{"--target-directory=d a", "d", "a", true},
		{"--target-directory d a", "d", "a", true},
		{"-t", "", "", false},
	} {
		_, rest := SplitFlags(words(tt.line))
		to, sources, ok := SplitTarget(words(tt.line), rest)
		if to.Text != tt.to || join(sources) != tt.sources || ok != tt.ok {
			t.Errorf("SplitTarget(%q) = %q, %q, %v; want %q, %q, %v", tt.line, to.Text, join(sources), ok, tt.to,
				tt.sources,
				tt.ok)
		}
	}
	if w := CutWord(shell.Word{Text: "-o~/x"}, 2); w.Text != "~/x" || w.Bare != "~/x" || !w.Tilde {
		t.Errorf(`CutWord gives %+v; want w.Text == "~/x", w.Bare == "~/x" and w.Tilde`, w)
	}
}

func parseRun(t *testing.T, cmd string) *shell.Run {
	t.Helper()
	s := shell.Parse(cmd)
	if len(s.Runs) == 0 {
		t.Fatalf("%q has no run", cmd)
	}
	return &s.Runs[len(s.Runs)-1]
}

func TestGitParts(t *testing.T) {
	for cmd, want := range map[string]string{
		"git push -f": "push|-f", "git -C x -c a=b push o": "push|o", "git --git-dir x status": "status|", "git": "|",
		"git -p log -1": "log|-1",
		"git --namespace n --work-tree w --exec-path e add x": "add|x",
		"git --config-env a.b=HOME --attr-source HEAD add x":  "add|x",
	} {
		r := parseRun(t, cmd)
		sub, args := GitParts(r)
		if got := sub + "|" + join(args); got != want {
			t.Errorf("GitParts(%q) = %q, want %q", cmd, got, want)
		}
	}
}

func TestExtractDir(t *testing.T) {
	for cmd, want := range map[string]string{
		"tar xf a -C d": "d", "tar -xzf a -Cd": "d", "tar cf a -C d": "", "tar --extract -f a --directory=d": "d",
		"tar xf a":         "",
		"cd d && tar xf a": ".", "unzip a -d d": "d", "unzip -l a -d d": "", "unzip a -dd": "d", "7z x a -od": "d",
		"7z l a -od":                "",
		"tar -f a -x --directory d": "d", "tar -f a/x.tar -C d": "", "tar": "", "tar -C d": "", "tar x -C": "",
		"tar -x -C":            "",
		"tar --exclude a -C d": "", "tar --get -f a --cd d": "d", "tar ./x -C d": "", "tar -f a -vvvvvvx -C d": "",
		"tar -f a -vvvvvx -C d": "d", "tar -f a -v x -C d": "", "unzip a -d": "", "7z x a -o": "",
		"cpio -i -D d": "d",
		"cpio -i -d d": "", "unzip a -D d": "", "bsdtar xf a -Cd": "d", "tar xf a -od": "", "tar xf a -dd": "",
		"tar -f a -Cx -C d": "", "tar -f a -CxD": "", "unzip -v a -d d": "", "7za e a -od": "d", "unzip a -C d": "d",
	} {
		r := parseRun(t, cmd)
		dir, ok := ExtractDir(r)
		if dir.Text != want || ok != (want != "") {
			t.Errorf("ExtractDir(%q) = %q, %v; want %q", cmd, dir.Text, ok, want)
		}
	}
}

func TestFindDeletes(t *testing.T) {
	for cmd, want := range map[string]bool{
		"find . -delete": true, "find . -exec rm {} +": true, "find . -exec sh -c 'rm x' \\;": true,
		"find . -name x":                   false,
		"find . -exec cat {} \\; -name rm": false, "find . -execdir /bin/rm {} \\;": true, "fd x -X rm": true,
		"find . -exec grm {} \\;": true,
	} {
		s := shell.Parse(cmd)
		x := NewScope(&Call{}, &s, &Report{}, nil)
		if got := x.FindDeletes(&s.Runs[0], s.Runs[0].Args()); got != want {
			t.Errorf("FindDeletes(%q) = %v, want %v", cmd, got, want)
		}
	}
	for cmd, want := range map[string]bool{
		"find . | xargs rm": true, "find . | xargs cat": false, "find .; rm x": false,
		"rm x; find . | cat": false, `find . | xargs python3 -c 'os.unlink(x)'`: true, "find . -exec": false,
		"find . -x": false,
	} {
		s := shell.Parse(cmd)
		at := 0
		if strings.HasPrefix(cmd, "rm") {
			at = 1
		}
		x := NewScope(&Call{}, &s, nil, nil)
		if got := x.FindDeletes(&s.Runs[at], s.Runs[at].Args()); got != want {
			t.Errorf("%s deletes: got %v, want %v", cmd, got, want)
		}
	}
}

func TestQuotedIn(t *testing.T) {
	if got := QuotedIn("a 'b' \"c\" `d` 'e"); !slices.Equal(got, []string{"b", "c", "d"}) {
		t.Errorf(`QuotedIn gives %q; want got equal to []string{"b", "c", "d"}`, got)
	}
	for count, want := range map[int]int{1: 1, maxQuoted: maxQuoted, maxQuoted + 1: maxQuoted} {
		if got := len(QuotedIn(strings.Repeat("''", count))); got != want {
			t.Errorf("%d literals: got %d, want %d", count, got, want)
		}
	}
	for text, want := range map[string]string{"'a'": "a", "'a''b'": "a b", "x": "", "'": "", `"a'b"`: "a'b",
		"''": "", "a'b": ""} {
		if got := strings.Join(QuotedIn(text), " "); got != want {
			t.Errorf("literals of %s: got %q, want %q", text, got, want)
		}
	}
}

// A database client's statements stand in its arguments, on its input, or come out of what prints them into it.
func TestStatementText(t *testing.T) {
	for cmd, want := range map[string]string{
		"psql -c 'DROP x'": "-c\nDROP x\n", "echo 'DROP x' | psql": "DROP x\n",
		"printf 'DROP x' | psql -q": "-q\nDROP x\n",
		"psql <<< 'DROP x'":         "DROP x\n", "cat x.sql | psql": "x.sql\n", "ls | psql": "", "echo a; psql": "",
		"cat <<< 'DROP x' | psql": "\nDROP x\n", "echo a | cat | psql": "a\n",
	} {
		s := shell.Parse(cmd)
		x := NewScope(&Call{}, &s, nil, nil)
		if got := x.StatementText(&s.Runs[len(s.Runs)-1]); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: got %q, want %q", cmd, got, want)
		}
	}
}

func TestViaXargs(t *testing.T) {
	for cmd, want := range map[string]bool{
		"ls | xargs rm": true, "ls | gxargs rm": true, "parallel rm ::: a": true, "sudo rm x": false, "rm x": false,
	} {
		if got := ViaXargs(parseRun(t, cmd)); got != want {
			t.Errorf("%s runs through xargs: got %v, want %v", cmd, got, want)
		}
	}
}

// What a container changes through a mount is changed on this machine.
func TestHostRuns(t *testing.T) {
	for cmd, want := range map[string]string{
		"docker run -v /:/host img rm -rf /host/home /opt": "rm -rf /home /tmp/in-a-container/opt",
		"docker run -v /:/host img rm -rf /opt":            "", "docker run img rm -rf /host": "", "rm -rf /host": "",
		"docker run -v /a:/b img sh -c 'echo x > /b/c'": "echo x > /a/c",
	} {
		s := shell.Parse(cmd)
		x := NewScope(&Call{}, &s, nil, nil)
		var got []string
		for _, r := range x.HostRuns() {
			line := r.Argv[0].Text + " " + join(r.Argv[1:])
			for _, rd := range r.Redirects {
				line += " " + rd.Op + " " + rd.Target.Text
			}
			got = append(got, line)
			if r.Contained {
				t.Errorf("%s: %q still counts as contained, want it on this machine", cmd, line)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s means %q on this machine, want %q", cmd, got, want)
		}
	}
	many := shell.Script{}
	for range 300 {
		s := shell.Parse("docker run -v /:/host img rm /host/a")
		many.Runs = append(many.Runs, s.Runs[len(s.Runs)-1])
	}
	if got := len(NewScope(&Call{}, &many, nil, nil).HostRuns()); got != 256 {
		t.Errorf("of 300 runs %d are looked at, want 256", got)
	}
	empty := shell.Run{Contained: true, Mounts: many.Runs[0].Mounts}
	if _, touched := HostRun(&empty); touched {
		t.Error("a run without words touches a mount, want that it does not")
	}
}

func TestListsNames(t *testing.T) {
	for tool, want := range map[string]bool{"LS": true, "ls": true, "list_dir": true, "ListFiles": true,
		"lsof": false, "grep": false} {
		if got := ListsNames(tool); got != want {
			t.Errorf("%s only lists names: got %v, want %v", tool, got, want)
		}
	}
}

// The bounds themselves are still read; what is beyond them is not passed over in silence.
func TestBoundsOfInput(t *testing.T) {
	list := func(key string, count int) []byte {
		return []byte(`{"` + key + `":[` + strings.TrimSuffix(strings.Repeat(`"x",`, count), ",") + `]}`)
	}
	pad := func(size int) []byte {
		return []byte(`{"path":"a"` + strings.Repeat(" ", size-len(`{"path":"a"}`)) + `}`)
	}
	for _, c := range []struct {
		name            string
		tool            string
		input           []byte
		paths, commands int
		unreadable      bool
	}{
		{"commands", "run", list("command", maxCommands), 0, maxCommands, false},
		{"too many commands", "run", list("command", maxCommands+1), 0, maxCommands, true},
		{"paths", "read", list("paths", maxPaths), maxPaths, 0, false},
		{"too many paths", "read", list("paths", maxPaths+1), maxPaths, 0, true},
		{"paths to write", "write", list("paths", maxPaths), maxPaths, 0, false},
		{"too many paths to write", "write", list("paths", maxPaths+1), maxPaths, 0, true},
		{"a long path", "read", []byte(`{"path":"` + strings.Repeat("x", maxPath) + `"}`), 1, 0, false},
		{"a path longer than any system's", "read", []byte(`{"path":"` + strings.Repeat("x", maxPath+1) + `"}`), 0,
			0, false},
		{"a long input", "read", pad(maxInput), 1, 0, false},
		{"too long an input", "read", pad(maxInput + 1), 0, 0, true},
		{"no input", "read", nil, 0, 0, false},
		{"half an input", "read", []byte(`{"path":"a"`), 1, 0, true},
	} {
		call := Call{ToolKind: "mcp", ToolName: c.tool, Input: c.input}
		got := ReadInput(&call)
		if len(got.Reads)+len(got.Writes) != c.paths || len(call.Commands) != c.commands ||
			(got.Unreadable != "") != c.unreadable {
			t.Errorf("%s: got %d paths, %d commands, unreadable %q; want %d, %d, %v", c.name,
				len(got.Reads)+len(got.Writes),
				len(call.Commands), got.Unreadable, c.paths, c.commands, c.unreadable)
		}
	}
	// What the dialect named is not read again, but a tool that is not known to write may
	// read what it names.
	for name, call := range map[string]Call{
		"reads": {Reads: []string{"a"}}, "writes": {Writes: []string{"a"}}, "commands": {Commands: []string{"a"}},
		"reads and writes": {Reads: []string{"a"}, Writes: []string{"b"}},
		"all":              {Reads: []string{"a"}, Writes: []string{"b"}, Commands: []string{"c"}},
		"reads, commands":  {Reads: []string{"a"}, Commands: []string{"c"}},
	} {
		call.ToolKind, call.Input = "mcp", []byte(`{"path":"z"}`)
		if got := ReadInput(&call); !slices.Equal(got.Reads, call.Writes) || len(got.Writes) != 0 {
			t.Errorf("%s are named: got %+v read out of the input, want nothing", name, got)
		}
	}
	text := func(size int) []byte {
		return []byte(`{"content":"a"` + strings.Repeat(" ", size-len(`{"content":"a"}`)) + `}`)
	}
	for size, want := range map[int]bool{maxInput: true, maxInput + 1: false} {
		if _, known := WrittenText(&Call{Input: text(size)}); known != want {
			t.Errorf("the text of an input of %d bytes is known: got %v, want %v", size, known, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"a b", 9, "a b"}, {"a\x01b\x1fc", 9, "a b c"}, {"a\r\nb\tc", 9, "a b c"}, {"é", 1, "…"}, {"aé", 2, "a…"},
		{"", 0, ""},
		{"\x80\x80\x80", 1, "…"},
	} {
		if got := oneLine(c.text, c.limit); got != c.want {
			t.Errorf("oneLine(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func testScope() *Scope {
	call := Call{Home: "/home/dev", Cwd: "/home/dev/app/web", Project: "/home/dev/app"}
	return NewScope(&call, nil, &Report{}, nil)
}

func TestResolveText(t *testing.T) {
	x := testScope()
	for _, tt := range []struct {
		text  string
		path  string // "" when not known
		all   bool
		tilde bool
	}{
		{"/a/b", "/a/b", false, false}, {"a", "/home/dev/app/web/a", false, false}, {"../a", "/home/dev/app/a",
			false, false},
		{"~/a", "/home/dev/a", false, true}, {"~", "/home/dev", false, true}, {"~root/a", "/root/a", false, true},
		{"~eve",
			"/home/eve", false, true},
		{"~+/a", "/home/dev/app/web/a", false, true}, {"$HOME/a", "/home/dev/a", false, false}, {"${HOME}/a",
			"/home/dev/a",
			false, false},
		{"$HOMEX/a", "", false, false}, {"$PWD/a", "/home/dev/app/web/a", false, false}, {"/a/*", "/a", true,
			false}, {"/*",
			"/", true, false},
		{"*", "/home/dev/app/web", true, false}, {"./*", "/home/dev/app/web", true, false}, {"/a/.*", "/a", true,
			false},
		{"/a/**", "/a", true, false},
		{"$XDG_CONFIG_HOME/a", "/home/dev/.config/a", false, false}, {"$X/a", "", false, false}, {"/home/$USER",
			"/home/dev",
			false, false},
		{"$(git rev-parse --show-toplevel)/a", "/home/dev/app/a", false, false}, {"/home/$(whoami)", "/home/dev",
			false,
			false}, {"", "", false, false},
		{"$CODEX_HOME/x", "/home/dev/.codex/x", false, false}, {"$TMPDIR/x", "/tmp/x", false, false},
	} {
		p := x.ResolveText(tt.text, tt.tilde, strings.ContainsAny(tt.text, "$`"), nil)
		if p.Path != tt.path || p.Known != (tt.path != "") || p.All != tt.all {
			t.Errorf("ResolveText(%q) = %+v, want %q, all %v", tt.text, p, tt.path, tt.all)
		}
	}
}

func TestStartDir(t *testing.T) {
	x := testScope()
	for cmd, want := range map[string]string{
		"ls": "/home/dev/app/web", "cd .. && ls": "/home/dev/app", "cd /x; cd y; ls": "/x/y", "cd; ls": "/home/dev",
		"cd - && ls": "", "cd $X && ls": "",
		"ssh h ls": "/home/dev", "ssh h 'cd y; ls'": "/home/dev/y",
	} {
		r := parseRun(t, cmd)
		dir, ok := x.StartDir(r)
		if dir != want || ok != (want != "") {
			t.Errorf("%q starts in %q, %v; want %q", cmd, dir, ok, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	x := testScope()
	for _, tt := range []struct {
		path             string
		broad            string
		scratch, outside bool
	}{
		{"/", "the whole file system", false, true}, {"/home/dev", "the home directory", false, true},
		{"/home", "a parent of the home directory", false, true}, {"/home/dev/app", "the whole project", false,
			false},
		{"/home/dev/app/x", "", false, false}, {"/home/dev/app/.git", "the repository's history", false, false},
		{"/mnt", "a top-level directory", false, true}, {"/etc/x", "a system directory", false, true}, {"/home/eve",
			"a home directory", false, true},
		{"/home/dev/x", "", false, true}, {"/tmp/x", "", true, false}, {"/tmp", "a top-level directory", false, true},
		{"/home/dev/.cache/x", "", true, false}, {"/home/dev/.cache", "", false, true}, {"/home/dev/.npm", "",
			true, false},
		{"/var/tmp/x", "", true, false}, {"/etcetera/x", "", false, true}, {"/home/devel/x/y", "", false, true},
		{"/Users/eve", "a home directory", false, true},
	} {
		p := Place{Text: tt.path, Path: tt.path, Known: true}
		if got := x.WhyBroad(p).String(); got != tt.broad {
			t.Errorf("%s is broad: %q, want %q", tt.path, got, tt.broad)
		}
		if got := x.IsScratch(tt.path); got != tt.scratch {
			t.Errorf("%s is scratch: %v, want %v", tt.path, got, tt.scratch)
		}
		if got := x.IsOutside(p); got != tt.outside {
			t.Errorf("%s is outside: %v, want %v", tt.path, got, tt.outside)
		}
	}
	if !IsUnder("/a", "/a") || !IsUnder("/a/b", "/a") || IsUnder("/ab", "/a") || !IsUnder("/x", "/") || IsBelow("/a",
		"/a") || !IsBelow("/a/b", "/a") {
		t.Error("IsUnder or IsBelow is wrong")
	}
}

func TestScopeStandIns(t *testing.T) {
	x := NewScope(&Call{}, nil, nil, nil)
	if x.Home != "/home/user" || x.Cwd != "/home/user/project" || x.Project != x.Cwd {
		t.Errorf(`stand-ins: %q %q %q; want x.Home == "/home/user", x.Cwd == "/home/user/project" and `+
			`x.Project == x.Cwd`, x.Home, x.Cwd, x.Project)
	}
	x = NewScope(&Call{Project: "/p/", Home: "/h/"}, nil, nil, nil)
	if x.Cwd != "/p" || x.Home != "/h" || x.Project != "/p" {
		t.Errorf("from the project: %q %q %q", x.Home, x.Cwd, x.Project)
	}
	inner := x.Inner(&shell.Script{}, &Report{})
	if inner.Home != "/h" || inner.Script == nil || x.Script != nil {
		t.Errorf(`inner scope: %+v; want inner.Home == "/h", inner.Script != nil and x.Script == nil`, inner)
	}
}

func TestRealPath(t *testing.T) {
	asked := 0
	x := NewScope(&Call{}, nil, nil, func(p string) string {
		asked++
		return strings.Replace(p, "/link", "/real",
			1)
	})
	for _, tt := range []struct {
		path   string
		follow bool
		want   string
	}{
		{"/link", true, "/real"}, {"/link", false, ""}, {"/link/x", false, "/real/x"}, {"/a", true, ""}, {"link",
			true, ""},
	} {
		got, ok := x.RealPath(tt.path, tt.follow)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("RealPath(%q, %v) = %q, %v; want %q", tt.path, tt.follow, got, ok, tt.want)
		}
	}
	for range 2 * MaxResolve {
		x.RealPath("/a", true)
	}
	if asked != MaxResolve {
		t.Errorf("asked %d times, want %d", asked, MaxResolve)
	}
}

func TestNeedles(t *testing.T) {
	n := NewNeedles(true, "rm", ".env", "git push", "mkfs")
	plain := NewNeedles(false, "rm")
	for text, want := range map[string]bool{
		"rm x": true, "RM x": true, "farm": false, "a/rm": true, "x.env": true, "cat .ENV": true, "git push": true,
		"git pull": false, "mkfs.ext4": true,
		"r''m": true, `\x`: true, "$X": true, "`x`": true, "{a,b}": true, "/bin/r?": true, "[a]": true,
		"/bin/r*": true,
		"*.go":    false, "ls -la": false,
		`"a b"`: false, `a"b"c`: true, `""`: true, "": false, "'a'": false,
	} {
		if got := n.MustParse(text); got != want {
			t.Errorf("MustParse(%q) = %v, want %v", text, got, want)
		}
	}
	if plain.MustParse("$X") || !plain.MustParse("rm") {
		t.Error("without tricks only the words count")
	}
}

func TestReport(t *testing.T) {
	r := &Report{Line: 2}
	r.Add("b", "w\nx", "re\tason")
	r.Add("b", "w\nx", "re\tason")
	if len(r.List) != 1 || r.List[0] != (Found{Check: "b", Reason: "re ason", Where: "w x", Line: 2}) {
		t.Errorf("report %+v, want one finding in one line", r.List)
	}
	for i := range 2 * maxFound {
		r.Add("c", strings.Repeat("x", i), "y")
	}
	if len(r.List) != maxFound {
		t.Errorf("%d findings, want %d", len(r.List), maxFound)
	}
	if got := oneLine(strings.Repeat("é", 10), 5); got != "éé…" {
		t.Errorf("cut inside a character: %q", got)
	}
	if got := oneLine("12345", 5); got != "12345" {
		t.Errorf("cut without need: %q", got)
	}
}

func TestReadInput(t *testing.T) {
	for _, tt := range []struct {
		call                    Call
		reads, writes, commands string
	}{
		{Call{ToolKind: "mcp", ToolName: "read", Input: []byte(`{"path":"a","x":{"files":["b","c"]},"n":1}`)},
			"a b c", "",
			""},
		{Call{ToolKind: "mcp", ToolName: "write_file", Input: []byte(`{"path":"a","content":"x"}`)}, "", "a", ""},
		{Call{ToolKind: "mcp", ToolName: "run", Input: []byte(`{"command":"a b","cmd":"c"}`)}, "", "", "a b c"},
		{Call{ToolKind: "mcp", ToolName: "x", Reads: []string{"z"}, Input: []byte(`{"path":"a"}`)}, "", "", ""},
		{Call{ToolKind: "search", ToolName: "Grep", Reads: []string{"z"},
			Input: []byte(`{"path":"z","glob":"*.go","pattern":"p"}`)}, "z *.go", "", ""},
		{Call{ToolKind: "search", ToolName: "Glob", Input: []byte(`{"pattern":"p"}`)}, "p", "", ""},
		{Call{ToolKind: "shell", Input: []byte(`{"path":"a"}`)}, "", "", ""},
		{Call{ToolKind: "other", Input: []byte(`{"uri":"file:///a","path":"","file":"a\nb"}`)}, "/a", "", ""},
		{Call{Input: []byte(`{"PATH":"a"}`)}, "a", "", ""},
		{Call{ToolKind: "mcp", Input: []byte(`{"path":"` + strings.Repeat("x", maxPath+1) + `"}`)}, "", "", ""},
	} {
		call := tt.call
		got := ReadInput(&call)
		if strings.Join(got.Reads, " ") != tt.reads || strings.Join(got.Writes, " ") != tt.writes ||
			strings.Join(call.Commands, " ") != tt.commands || got.Unreadable != "" {
			t.Errorf(`%s %s: %+v, commands %q; want strings.Join(got.Reads, " ") == tt.reads, `+
				`strings.Join(got.Writes, " ") == tt.writes, strings.Join(call.Commands, " ") == tt.commands `+
				`and got.Unreadable == ""`, tt.call.ToolName, tt.call.Input, got, call.Commands)
		}
	}
}

func TestWrittenText(t *testing.T) {
	for input, want := range map[string]string{
		`{"content":"a"}`: "a\n", `{"edits":[{"new_string":"a"},{"new_string":"b"}]}`: "a\nb\n", `{"path":"a"}`: "",
		`{"content":`: "", ``: "",
		`{"old_string":"x","new_string":""}`: "\n",
	} {
		text, known := WrittenText(&Call{Input: []byte(input)})
		if known != (want != "") || known && text != want {
			t.Errorf("WrittenText(%s) = %q, %v; want %q", input, text, known, want)
		}
	}
}
