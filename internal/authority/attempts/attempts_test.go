package attempts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All() {
		if a.Name == "" || seen[a.Name] {
			t.Errorf("%q: every row has a name of its own", a.Name)
		}
		seen[a.Name] = true
		if (a.End == Passes) != (a.Why != "") {
			t.Errorf("%s: what is not refused has a reason, and nothing else has", a.Name)
		}
		if (a.End == Passes) != (a.On == Nowhere) {
			t.Errorf("%s: what is refused is run somewhere", a.Name)
		}
		if strings.HasSuffix(a.Why, ".") || strings.ContainsAny(a.Text()+a.Why, "\n") {
			t.Errorf("%s: texts are parts of one line", a.Name)
		}
	}
	if len(seen) < 220 {
		t.Errorf("%d rows: the list only grows", len(seen))
	}
}

// Every row is run: by the table's own tests, or by a test that it names.
func TestRowsAreRun(t *testing.T) {
	for _, a := range All() {
		switch {
		case a.End == Passes:
		case a.Test != "":
			if !hasTest(t, a.Test) {
				t.Errorf("%s: there is no test %s", a.Name, a.Test)
			}
		case a.Class == Guarded && a.Guard != "" && a.Command != "":
			// internal/policy/guards
		case a.Class == Person && a.On == Facts:
			// internal/authority
		case a.Class == Person && a.On&Process != 0 && (a.Raw || strings.Contains(a.Command, "DO")):
			// internal/authority/terminaltest
		default:
			t.Errorf("%s: nothing runs this row", a.Name)
		}
	}
}

// hasTest looks for a test by its name, as package.Test.
func hasTest(t *testing.T, name string) bool {
	t.Helper()
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return false
	}
	files, err := filepath.Glob(filepath.Join(root, name[:dot], "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name[dot+1:]+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// The documentation says what the table says.
func TestDocumentationIsUpToDate(t *testing.T) {
	file := "attempts.md"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), DocsBegin)
	_, after, okEnd := strings.Cut(rest, DocsEnd)
	if !ok || !okEnd {
		t.Fatalf("%s has no part between %q and %q", file, DocsBegin, DocsEnd)
	}
	want := before + DocsBegin + "\n\n" + Markdown() + "\n" + DocsEnd + after
	if want == string(b) {
		return
	}
	if os.Getenv("HOOKMUX_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not list the attempts as the table has them; run with HOOKMUX_UPDATE=1", file)
}
