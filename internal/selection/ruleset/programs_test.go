package ruleset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

const (
	acmeDeletes = "programs:\n  - {names: acme, does: {deletes: [destroy]}}\n"
	acmeReads   = "programs:\n  - {names: acme, does: {deletes: [destroy]}, reader: {}}\n"
)

// programPlace is a folder of settings of which has to be accepted what weakens.
type programPlace struct {
	t      *testing.T
	config string
	store  *accepted.Store
	loader *Loader
}

func newProgramPlace(t *testing.T) *programPlace {
	dir := t.TempDir()
	p := &programPlace{t: t, config: filepath.Join(dir, "config")}
	if err := os.MkdirAll(filepath.Join(p.config, programs.FolderName), 0o755); err != nil {
		t.Fatal(err)
	}
	p.store = accepted.Open(accepted.Options{Config: p.config, State: filepath.Join(dir, "state"), Data: filepath.Join(dir, "data")})
	p.loader = New(Options{User: p.config, State: filepath.Join(dir, "state"), Accepted: p.store})
	p.loader.Base()
	if _, err := p.store.Accept(""); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *programPlace) write(text string) {
	p.t.Helper()
	if err := os.WriteFile(p.file(), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *programPlace) file() string {
	return filepath.Join(p.config, programs.FolderName, "acme.yaml")
}

// acme returns what is known about the program, and what is wrong.
func (p *programPlace) acme() (*programs.Program, []string) {
	loaded := p.loader.Base()
	var problems []string
	for _, one := range loaded.Problems {
		problems = append(problems, one.String())
	}
	return programs.NewTable(loaded.Programs).Of("acme"), problems
}

func (p *programPlace) want(when string, deletes, reads bool) {
	p.t.Helper()
	a, problems := p.acme()
	if got := len(a.Does[programs.LosesData]) > 0; got != deletes || (a.Reader != nil) != reads {
		p.t.Errorf("%s: deletes %v, reader %v; want %v, %v; %v", when, got, a.Reader != nil, deletes, reads, problems)
	}
}

func TestProgramsOnlyAddByThemselves(t *testing.T) {
	p := newProgramPlace(t)
	p.want("before", false, false)
	p.write(acmeReads)
	p.want("added", true, false) // what would have hookmux see less waits
	if _, err := p.store.Accept(""); err != nil {
		t.Fatal(err)
	}
	p.want("accepted", true, true)
	p.write("programs: []\n")
	p.want("emptied", true, true)
	if err := os.Remove(p.file()); err != nil {
		t.Fatal(err)
	}
	p.want("removed", true, true)
	changes, _ := p.store.Pending()
	if len(changes) != 1 {
		t.Fatalf("%v wait, want the file", changes)
	}
	if lost := WeakerPrograms(p.file(), changes[0].Before, changes[0].After); !slices.Equal(lost, []string{"the description of acme is removed"}) {
		t.Errorf("removing takes away %q", lost)
	}
	if _, err := p.store.Accept(""); err != nil {
		t.Fatal(err)
	}
	p.want("removal accepted", false, false)
}

func TestBrokenProgramsKeepTheLast(t *testing.T) {
	p := newProgramPlace(t)
	p.write(acmeDeletes)
	p.want("added", true, false)
	p.write("programs:\n  - {names: acme, delets: [x]}\n")
	p.want("broken", true, false)
	_, problems := p.acme()
	if len(problems) != 1 || !strings.Contains(problems[0], "acme.yaml:2:") || !strings.Contains(problems[0], "delets") {
		t.Errorf("a file that cannot be read is named as %q, want its place and the field", problems)
	}
	if _, err := p.store.Accept(""); err == nil {
		t.Error("a file that cannot be read was accepted")
	}
}

func TestWhatIsWeaker(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"", acmeDeletes, ""},
		{"", acmeReads, "the description of acme is added, and may have hookmux see less"},
		{acmeDeletes, acmeDeletes + "  - {names: b, is: sends}\n", ""},
		{acmeDeletes, "programs:\n  - {names: acme, is: sends}\n", "the description of acme is changed"},
		{acmeDeletes, "", "the description of acme is removed"},
	} {
		if got := strings.Join(WeakerPrograms("acme.yaml", []byte(tt.before), []byte(tt.after)), "; "); got != tt.want {
			t.Errorf("from %q to %q: %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}
