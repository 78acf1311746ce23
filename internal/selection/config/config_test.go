package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

type place struct {
	*Loader
	t                          *testing.T
	opt                        Options
	system, user, project, dir string
}

func newPlace(t *testing.T, environ ...string) *place {
	dir := t.TempDir()
	p := &place{t: t, dir: dir, project: filepath.Join(dir, "proj")}
	p.opt = Options{System: filepath.Join(dir, "etc"), User: filepath.Join(dir, "user"),
		State: filepath.Join(dir, "state"), Environ: environ}
	p.system, p.user = filepath.Join(p.opt.System, fileName), filepath.Join(p.opt.User, fileName)
	p.Loader = New(p.opt)
	return p
}

func (p *place) write(file, text string) {
	p.t.Helper()
	os.MkdirAll(filepath.Dir(file), 0o755)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) projectFile() string { return filepath.Join(p.project, projectDir, fileName) }

func problems(s *Settings) string {
	var lines []string
	for _, p := range s.Problems() {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

func TestDefaults(t *testing.T) {
	s := newPlace(t).Settings()
	if s.Span(JournalKeep) != 30*24*time.Hour || s.Size(JournalMaxSize) != 1<<30 ||
		s.Choice(GuardDestructive) != "off" ||
		s.Choice(GuardOwnFiles) != "block" || s.Span(HooksTimeout) != time.Minute || len(s.Strings(GuardAllow)) != 0 {
		t.Errorf(`s.List() = %+v, want s.Span(JournalKeep) = 30 * 24 * time.Hour, s.Size(JournalMaxSize) = 1 << 30, `+
			`s.Choice(GuardDestructive) = "off", s.Choice(GuardOwnFiles) = "block", s.Span(HooksTimeout) = time.Minute and len(s.Strings(GuardAllow)) = 0`,
			s.List())
	}
	for _, e := range s.List() {
		if !e.Default || e.Origin.Layer != Default || e.Key.Doc == "" {
			t.Errorf("e = %+v, want e.Default, e.Origin.Layer = Default and e.Key.Doc not empty", e)
		}
	}
	for _, k := range Keys() {
		raw, err := k.FromText(Format(k.Default))
		if err != nil {
			t.Errorf("%s: its own default is refused: %v", k.Name, err)
		}
		if v, err := k.parse(raw); err != nil || Format(v) != Format(k.Default) {
			t.Errorf("%s: v = %v, error %v; want no error and Format(v) = Format(k.Default)", k.Name, v, err)
		}
	}
}

func TestLayers(t *testing.T) {
	p := newPlace(t, "HOOKMUX_HOOKS_TIMEOUT=20s", "HOOKMUX_JOURNAL_KEEP_CLAUDE=2d", "HOOKMUX_RUNTIME_DIR=/x",
		"HOOKMUX_GUARD_ALLOW=bad", "HOOKMUX_GUARD_SECRETS=perhaps", "OTHER=1")
	p.write(p.system, "{\"journal.keep\": \"90d\", \"guard.destructive\": \"block\"}")
	p.write(p.user, "\ufeff{\r\n // mine\r\n \"guard.destructive\": \"ask\",\r\n \"hooks.timeout\": \"45s\",\r\n "+
		"\"journal.keep.codex\": \"1w\",}")
	s := p.Settings()
	if s.Choice(GuardDestructive) != "ask" || s.Span(HooksTimeout) != 20*time.Second ||
		s.Span(JournalKeep) != 90*24*time.Hour {
		t.Errorf(`s.List() = %+v, want s.Choice(GuardDestructive) = "ask", s.Span(HooksTimeout) = 20 * time.Second `+
			`and s.Span(JournalKeep) = 90 * 24 * time.Hour`, s.List())
	}
	if s.Keep("codex") != 7*24*time.Hour || s.Keep("claude") != 48*time.Hour || s.Keep("grok") != 90*24*time.Hour ||
		s.Keep("Odd Name") != 90*24*time.Hour {
		t.Errorf(`keep: %v %v %v; want s.Keep("codex") == 7*24*time.Hour, s.Keep("claude") == 48*time.Hour, `+
			`s.Keep("grok") == 90*24*time.Hour and s.Keep("Odd Name") == 90*24*time.Hour`,
			s.Keep("codex"), s.Keep("claude"), s.Keep("grok"))
	}
	e, ok := s.Get(GuardDestructive)
	if !ok || e.Origin != (Origin{Layer: User, File: p.user, Line: 3}) {
		t.Errorf("e.Origin = %+v, want ok and (Origin{Layer: User, File: p.user, Line: 3})", e.Origin)
	}
	if e, _ := s.Get(HooksTimeout); e.Origin.Layer != Environment || e.Origin.File != "HOOKMUX_HOOKS_TIMEOUT" {
		t.Errorf(`e.Origin = %+v, want e.Origin.Layer = Environment and e.Origin.File = "HOOKMUX_HOOKS_TIMEOUT"`,
			e.Origin)
	}
	if _, ok := s.Get("no.such"); ok {
		t.Error("there's no setting found")
	}
	if got := problems(s); !strings.Contains(got, "HOOKMUX_GUARD_SECRETS") || strings.Contains(got, "RUNTIME") {
		t.Errorf(`problems(s) = %q, want "HOOKMUX_GUARD_SECRETS" in it and no "RUNTIME" in it`, got)
	}
}

func TestWrongKeysAndValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\n  \"guard.destructve\": \"block\"\n}", `config.json:2:3: there's no setting "guard.destructve"; did you mean "guard.destructive"?`},
		{`{"guard": {"secrets": "block"}}`, `did you mean "guard.destructive"?`},
		{`{"timeout": "3s"}`, `did you mean "hooks.timeout"?`},
		{`{"zzzzzz": 1}`, "config list"},
		{`{"guard.secrets": true}`, "one of off, log, ask, block"},
		{`{"journal.keep": 30}`, "duration"},
		{`{"journal.keep": "30 days"}`, "isn't a duration"},
		{`{"journal.keep": "1s"}`, "at least 1m"},
		{`{"journal.maxSize": "huge"}`, "isn't a size"},
		{`{"journal.maxSize": 10}`, "at least 1MiB"},
		{`{"guard.allow": "x"}`, "must be a list"},
		{`{"guard.allow": ["x", 1]}`, "must be a list"},
		{`{"journal.keep.Ä": "1d"}`, "there's no setting"},
		{`[]`, "must be an object"},
		{`{"a": `, "config.json:1:"},
	} {
		p := newPlace(t)
		p.write(p.user, c.text)
		if got := problems(p.Settings()); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q; want %q", c.text, got, c.want)
		}
	}
}

func TestLastGoodStays(t *testing.T) {
	p := newPlace(t)
	p.write(p.user, `{"guard.destructive": "block", "guard.secrets": "ask", "journal.keep": "10d"}`)
	if got := problems(p.Settings()); got != "" {
		t.Fatalf(`problems(p.Settings()) = %q, want ""`, got)
	}
	p.write(p.user, `{"guard.destructive": "block" "guard.secrets": "block"}`)
	for _, l := range []*Loader{p.Loader, New(p.opt)} { // and after a restart
		s := l.Settings()
		e, _ := s.Get(GuardDestructive)
		if e.Value != "block" || !e.Origin.LastGood || !strings.Contains(problems(s), "last good version stays in force") {
			t.Errorf(`e = %+v, problems(s) = %s; want e.Value = "block", e.Origin.LastGood and "last good version `+
				`stays in force" in problems(s)`, e, problems(s))
		}
	}
	// One bad value: the others count at once, that one stays as it was.
	p.write(p.user, `{"guard.destructive": "block", "guard.secrets": "block", "journal.keep": "ten"}`)
	s := p.Settings()
	if s.Choice(GuardDestructive) != "block" || s.Choice(GuardSecrets) != "block" ||
		s.Span(JournalKeep) != 10*24*time.Hour || !strings.Contains(problems(s), "last good value, 10d") {
		t.Errorf("s.Choice(GuardDestructive) = %q, s.Choice(GuardSecrets) = %q, s.Span(JournalKeep) = %v, problems(s) = %q; "+
			"want block, block, 240h and the last good value in problems(s)",
			s.Choice(GuardDestructive), s.Choice(GuardSecrets), s.Span(JournalKeep), problems(s))
	}
	kept, err := filepath.Glob(filepath.Join(p.opt.State, "lastgood", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept = %q, error %v; want no error and len(kept) = 1", kept, err)
	}
	if info, _ := os.Stat(kept[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("info.Mode() = %v, want info.Mode().Perm() = 0o600", info.Mode())
	}
	// Taking the file away is a decision, not an accident.
	os.Remove(p.user)
	if s := p.Settings(); s.Choice(GuardDestructive) != "off" || problems(s) != "" {
		t.Errorf(`problems(s) = %q, want s.Choice(GuardDestructive) = "off" and ""`, problems(s))
	}
	// A folder in its place is an accident.
	p.write(p.user, `{"guard.secrets": "block"}`)
	p.Settings()
	os.Remove(p.user)
	os.Mkdir(p.user, 0o700)
	if s := p.Settings(); s.Choice(GuardSecrets) != "block" || problems(s) == "" {
		t.Errorf(`s.Choice(GuardSecrets) = %q, problems(s) = %q; want s.Choice(GuardSecrets) = "block" and problems(s) `+
			`not empty`, s.Choice(GuardSecrets), problems(s))
	}
}

// A value that cannot be read never means less protection, and neither does a name that
// is no setting: both are problems.
func TestUnreadableMeansProtection(t *testing.T) {
	for _, c := range []struct{ name, text, key, want, problem string }{
		{"a mode of an earlier build", `{"guard.secrets": "on"}`, GuardSecrets, "block", "treated as block until you fix it"},
		{"a typing error", `{"guard.secrets": "of"}`, GuardSecrets, "block", "treated as block until you fix it"},
		{"no text", `{"guard.own-files": false}`, GuardOwnFiles, "block", "treated as block until you fix it"},
		{"an approval policy", `{"approvals.policy.codex": "side effects"}`, ApprovalsPolicy + ".codex", "all", "treated as all"},
		{"hosts", `{"guard.network.hosts": "example.com"}`, GuardHosts, "unreadable.invalid", "the strictest list"},
		{"exceptions", `{"guard.allow": true}`, GuardAllow, "", "must be a list"},
		{"a rule's mode", `{"rules.modes": ["no-push=on"]}`, RulesModes, "no-push=on", "rule no-push blocks until"},
		{"an unknown setting", `{"guard.secrts": "off", "guard.secrets": "ask"}`, GuardSecrets, "ask", `no setting "guard.secrts"`},
	} {
		p := newPlace(t)
		p.write(p.user, c.text)
		s := p.Settings()
		if e, _ := s.Get(c.key); Format(e.Value) != c.want || !strings.Contains(problems(s), c.problem) {
			t.Errorf("%s: %s is %q with problems %q; want %q, and %q among the problems", c.name, c.key, Format(e.Value),
				problems(s), c.want, c.problem)
		}
	}
	s := newPlace(t, "HOOKMUX_GUARD_SECRETS=yes", "HOOKMUX_GUARD_SECRTS=block").Settings()
	if got := problems(s); s.Choice(GuardSecrets) != GuardBlock || !strings.Contains(got, "treated as block") ||
		!strings.Contains(got, "HOOKMUX_GUARD_SECRTS sets nothing") {
		t.Errorf("variables: guard.secrets is %q, problems %q; want block and both variables named", s.Choice(GuardSecrets), got)
	}
	for _, text := range []string{"no-push=on", "no-push"} {
		if _, err := newPlace(t).Set(User, "", RulesModes, text); err == nil {
			t.Errorf("`config set rules.modes %s` is taken, want an error", text)
		}
	}
}

func TestProjectMayOnlyTighten(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		key                 string
		trusted             bool
		want, problem       string
	}{
		{"tightens a guard", `{}`, `{"guard.secrets": "ask"}`, GuardSecrets, false, "ask", ""},
		{"tightens further", `{"guard.secrets": "ask"}`, `{"guard.secrets": "block"}`, GuardSecrets, false, "block", ""},
		{"loosens a guard", `{"guard.secrets": "block"}`, `{"guard.secrets": "ask"}`, GuardSecrets, true, "block", "may only tighten"},
		{"loosens a default", `{}`, `{"guard.own-files": "off"}`, GuardOwnFiles, true, "block", "may only tighten"},
		{"keeps less, trusted", `{}`, `{"journal.keep": "7d"}`, JournalKeep, true, "7d", ""},
		{"keeps less, untrusted", `{}`, `{"journal.keep": "7d"}`, JournalKeep, false, "30d", "hookmux trust"},
		{"keeps more", `{}`, `{"journal.keep": "60d"}`, JournalKeep, true, "30d", "may only tighten"},
		{"shorter timeout", `{}`, `{"hooks.timeout": "5s"}`, HooksTimeout, true, "5s", ""},
		{"longer timeout", `{}`, `{"hooks.timeout": "5m"}`, HooksTimeout, true, "1m", "may only tighten"},
		{"allows a rule", `{}`, `{"guard.allow": ["rm"]}`, GuardAllow, true, "", "cannot add rm"},
		{"allows fewer", `{"guard.allow": ["a", "b"]}`, `{"guard.allow": ["b"]}`, GuardAllow, false, "b", ""},
		{"not its business", `{}`, `{"journal.maxSize": "2MiB"}`, JournalMaxSize, true, "1GiB", "cannot be set by a project"},
		{"one agent", `{"journal.keep": "20d"}`, `{"journal.keep.codex": "10d"}`, JournalKeep + ".codex", true, "10d", ""},
		{"one agent, more", `{"journal.keep": "20d"}`, `{"journal.keep.codex": "25d"}`, JournalKeep + ".codex", true, "20d", "may only tighten"},
	} {
		p := newPlace(t)
		p.write(p.user, c.user)
		p.write(p.projectFile(), c.project)
		s := p.For(p.project, c.trusted)
		e, _ := s.Get(c.key)
		got := problems(s)
		if Format(e.Value) != c.want || (c.problem == "") != (got == "") || !strings.Contains(got, c.problem) {
			t.Errorf(`%s: e.Value = %v, got %q; want Format(e.Value) = %q, (c.problem == "") = (got == "") and %q `+
				`in it`, c.name, e.Value, got, c.want, c.problem)
		}
		if c.problem == "" && e.Origin.Layer != Project {
			t.Errorf(`%s: from %v; want c.problem != "" or e.Origin.Layer == Project`, c.name, e.Origin)
		}
		if s.Choice(GuardSecrets) != "off" && p.Settings().Choice(GuardSecrets) != s.Choice(GuardSecrets) &&
			c.name == "loosens a guard" {
			t.Errorf("%s: the project changed what is outside of it", c.name)
		}
	}
}

func TestSetAndUnset(t *testing.T) {
	p := newPlace(t)
	before := "{\r\n\t// why\r\n\t\"journal.keep\": \"10d\" // short\r\n}"
	p.write(p.user, before)
	if _, err := p.Set(User, "", GuardAllow, "git.force, rm.broad"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Set(User, "", GuardSecrets, "block"); err != nil {
		t.Fatal(err)
	}
	s := p.Settings()
	if got := s.Strings(GuardAllow); len(got) != 2 || got[1] != "rm.broad" || s.Choice(GuardSecrets) != "block" {
		t.Errorf(`got %q, problems(s) = %q; want len(got) = 2, got[1] = "rm.broad" and s.Choice(GuardSecrets) = "block"`,
			got, problems(s))
	}
	for _, key := range []string{GuardSecrets, GuardAllow} {
		if c, err := p.Unset(User, "", key); err != nil || !c.Changed() {
			t.Errorf("c = %+v, error %v; want no error and c.Changed()", c, err)
		}
	}
	if got, _ := os.ReadFile(p.user); string(got) != before {
		t.Errorf("got %q, want %q", got, before)
	}
	if c, err := p.Unset(User, "", GuardAllow); err != nil || c.Changed() {
		t.Errorf("c = %+v, error %v; want no error and not c.Changed()", c, err)
	}
	for _, c := range []struct {
		layer           Layer
		root, key, text string
		want            string
	}{
		{User, "", "guard.secret", "block", "did you mean"},
		{User, "", GuardSecrets, "maybe", "choose from"},
		{Environment, "", GuardSecrets, "block", "no file"},
		{Project, "", GuardSecrets, "block", "not in a project"},
		{Project, p.project, GuardOwnFiles, "off", "only tighten"},
	} {
		if _, err := p.Set(c.layer, c.root, c.key, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want an error and %q in err.Error()", c, err, c.want)
		}
	}
	if _, err := p.Set(Project, p.project, GuardSecrets, "block"); err != nil {
		t.Fatal(err)
	}
	if p.For(p.project, false).Choice(GuardSecrets) != "block" || p.For("", false).Choice(GuardSecrets) != "off" {
		t.Error("the project's setting is not in force there, or elsewhere too")
	}
	p.write(p.user, `{"a" 1}`)
	if _, err := p.Set(User, "", GuardSecrets, "block"); err == nil || !strings.Contains(err.Error(), "correct it first") {
		t.Errorf(`error %v, want an error and "correct it first" in err.Error()`, err)
	}
	if got, _ := os.ReadFile(p.user); string(got) != `{"a" 1}` {
		t.Error("a broken file was written over")
	}
}

func TestReloadIsCheapAndConcurrent(t *testing.T) {
	p := newPlace(t)
	p.write(p.user, `{"guard.secrets": "block"}`)
	old := time.Now().Add(-time.Hour)
	os.Chtimes(p.user, old, old)
	if !p.Reload() {
		t.Error("the file that was written is not read")
	}
	user, project := p.Settings(), p.For(p.project, true)
	if p.Reload() || p.Settings() != user || p.For(p.project, true) != project {
		t.Error("nothing changed, and yet the settings were made anew")
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				if i == 0 {
					if _, err := p.Set(User, "", GuardSecrets, "block"); err != nil {
						t.Error(err)
					}
				}
				if p.For(p.project, i%2 == 0).Choice(GuardSecrets) != "block" {
					t.Error("a moment without the guard")
				}
			}
		})
	}
	wg.Wait()
}

func TestSpansAndSizes(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "1w2d": 216 * time.Hour,
		"1.5d": 36 * time.Hour, "1d12h": 36 * time.Hour, "90s": 90 * time.Second, "0s": 0} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%s: ParseSpan(text) = %v, error %v; want no error and %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1", "nan", "1e300d", "d1", "9999999h9999999999h"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%s: ParseSpan(text) = %v: got no error, want one", text, got)
		}
	}
	for text, want := range map[string]int64{"1GiB": 1 << 30, "500MB": 5e8, "1.5 MiB": 3 << 19, "2g": 2 << 30,
		"17": 17} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: parseSize(text) = %v, error %v; want no error and %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "NaN", "1e30TB", "x"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%s: parseSize(text) = %v: got no error, want one", text, got)
		}
	}
	for _, d := range []time.Duration{time.Minute, time.Hour, 90 * time.Second, 36 * time.Hour, 100 * time.Millisecond,
		10 * time.Minute} {
		if back, err := ParseSpan(formatSpan(d)); err != nil || back != d {
			t.Errorf("d = %v, formatSpan(d) = %s, back = %v, error %v; want no error and back = %v",
				d, formatSpan(d), back, err, d)
		}
	}
}

func TestVariable(t *testing.T) {
	for key, want := range map[string]string{GuardOwnFiles: "HOOKMUX_GUARD_OWN_FILES",
		JournalMaxSize: "HOOKMUX_JOURNAL_MAXSIZE", "journal.keep.claude": "HOOKMUX_JOURNAL_KEEP_CLAUDE"} {
		if got := Variable(key); got != want {
			t.Errorf("%s: Variable(key) = %s, want %q", key, got, want)
		}
	}
}

// Quiet hours go by the clock on the wall: over midnight, and on the days on which it is
// put forward or back.
func TestQuietByTheClock(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("this machine knows no time zones: %v", err)
	}
	for _, c := range []struct {
		quiet string
		at    string // in UTC
		want  bool
	}{
		{"22:00-07:00", "2026-11-16T20:59:59Z", false}, // 21:59
		{"22:00-07:00", "2026-11-16T21:00:00Z", true},  // 22:00
		{"22:00-07:00", "2026-11-16T23:30:00Z", true},  // 00:30
		{"22:00-07:00", "2026-11-17T05:59:59Z", true},  // 06:59
		{"22:00-07:00", "2026-11-17T06:00:00Z", false}, // 07:00
		{"01:30-03:30", "2026-03-29T00:59:00Z", true},  // 01:59, and then it is 03:00
		{"01:30-03:30", "2026-03-29T01:29:00Z", true},  // 03:29
		{"01:30-03:30", "2026-03-29T01:30:00Z", false}, // 03:30
		{"02:15-02:45", "2026-10-25T00:30:00Z", true},  // 02:30 in summer
		{"02:15-02:45", "2026-10-25T01:00:00Z", false}, // 02:00 in winter
		{"02:15-02:45", "2026-10-25T01:30:00Z", true},  // 02:30 in winter
		{"12:00-13:00,22:00-07:00", "2026-11-16T11:30:00Z", true},
		{"23:59-00:00", "2026-11-16T22:59:30Z", true},
		{"23:59-00:00", "2026-11-16T23:00:00Z", false},
	} {
		list, err := ParseQuiet(c.quiet)
		at, badTime := time.Parse(time.RFC3339, c.at)
		if err != nil || badTime != nil {
			t.Fatalf("%s at %s: %v, %v; want no error and badTime == nil", c.quiet, c.at, err, badTime)
		}
		got := slices.ContainsFunc(list, func(q QuietTime) bool { return q.Covers(at.In(zone)) })
		if got != c.want {
			t.Errorf("%s at %s: quiet %v, want %v", c.quiet, at.In(zone).Format("15:04 MST"), got, c.want)
		}
	}
	for _, bad := range []string{"22:00", "22-7", "22:00-22:00", "24:00-07:00", "22:00-07:00,x"} {
		if _, err := ParseQuiet(bad); err == nil {
			t.Errorf("%q is taken for a part of the day", bad)
		}
	}
}

// What the daemon keeps under a seal is told of
// and counts for nothing in a file or a variable.
func TestSealedSettingsAreNoMatterOfFiles(t *testing.T) {
	dir := t.TempDir()
	text := `{"approvals.kinds": [], "approvals.proof": "pin", "approvals.pin": "off", "guard.secrets": "block"}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(Options{User: dir, Environ: []string{"HOOKMUX_APPROVALS_KINDS=shell"}}).Settings()
	if got := len(s.Problems()); got != 4 {
		t.Errorf("%d problems, want one for each of three in the file and one variable: %v", got, s.Problems())
	}
	for _, key := range []string{ApprovalsPIN, ApprovalsKinds, ApprovalsProof} {
		if e, _ := s.Get(key); !e.Default {
			t.Errorf("%s is %v, want its default", key, e.Value)
		}
	}
	if got := s.Choice(GuardSecrets); got != "block" {
		t.Errorf("guard.secrets is %q, want what the same file says", got)
	}
}
