package seeds

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// seedRow is one behaviour that a document describes.
type seedRow struct {
	seed, behaviour, test string
	line                  int
}

func readSeeds(t *testing.T) []seedRow {
	t.Helper()
	b, err := os.ReadFile("testdata/seeds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []seedRow
	for i, text := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		fields := strings.Split(text, "\t")
		if len(fields) != 4 {
			t.Fatalf("row %d has %d fields, want 4: %q", i+1, len(fields), text)
		}
		if i == 0 {
			continue // the names of the fields
		}
		line, err := strconv.Atoi(fields[1])
		if err != nil || line < 1 || fields[2] == "" || fields[3] == "" {
			t.Errorf("row %d: %q; want a line, a behaviour and a test or a reason", i+1, text)
		}
		rows = append(rows, seedRow{fields[0], fields[2], fields[3], line})
	}
	return rows
}

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	testName     = regexp.MustCompile(`\bTest[A-Z]\w*`)
	scriptName   = regexp.MustCompile(`\bscripts/([\w-]+)`)
)

// testsOfTheTree returns the names of all tests.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range testFunction.FindAllSubmatch(source, -1) {
			names[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Every test that a row names is in the tree, and a row that names none says why.
func TestSeeds(t *testing.T) {
	tests := testsOfTheTree(t)
	count, seen := map[string]int{}, map[string]bool{}
	for _, row := range readSeeds(t) {
		count[row.seed]++
		at := row.seed + ":" + strconv.Itoa(row.line)
		if key := at + row.behaviour; seen[key] {
			t.Errorf("%s: %q is listed twice", at, row.behaviour)
		} else {
			seen[key] = true
		}
		named := testName.FindAllString(row.test, -1)
		for _, name := range named {
			if !tests[name] {
				t.Errorf("%s: there is no %s", at, name)
			}
		}
		scripts := scriptName.FindAllStringSubmatch(row.test, -1)
		for _, script := range scripts {
			if _, err := os.Stat("../../internal/cli/testdata/scripts/" + script[1] + ".txtar"); err != nil {
				t.Errorf("%s: there is no script %s", at, script[1])
			}
		}
		if len(named)+len(scripts) == 0 && !strings.HasPrefix(row.test, "different on purpose: ") {
			t.Errorf("%s: %q names no test and is no reason", at, row.test)
		}
	}
	for seed, want := range map[string]int{"000": 70, "001": 83, "002": 81, "003": 110} {
		if count[seed] != want {
			t.Errorf("seed %s has %d rows, want %d", seed, count[seed], want)
		}
	}
}
