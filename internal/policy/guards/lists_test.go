package guards

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOutsideLists measures lists of commands that are not in the tree. The variable
// HOOKMUX_LISTS names a folder of *.tsv files with a label (harmless, or anything else
// for dangerous), a category and a command in each line, of which \n and \t stand for
// themselves where the label ends with "+". It prints what was missed or wrongly
// stopped, and shares by category; it fails only where a list cannot be read.
func TestOutsideLists(t *testing.T) {
	dir := os.Getenv("HOOKMUX_LISTS")
	if dir == "" {
		t.Skip("HOOKMUX_LISTS names no folder of lists")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no *.tsv in %s: %v", dir, err)
	}
	set := allGuards(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%s: want its text, got %v", file, err)
		}
		measureList(set, filepath.Base(file), string(text))
	}
}

// measureList prints the figures of one list.
func measureList(set *Guard, file, text string) {
	type share struct{ stopped, all int }
	shares := map[string]*share{}
	for n, line := range strings.Split(text, "\n") {
		columns := strings.SplitN(line, "\t", 3)
		if len(columns) < 3 || strings.HasPrefix(line, "#") || columns[0] == "label" {
			continue
		}
		label, command := columns[0], columns[2]
		if full, ok := strings.CutSuffix(label, "+"); ok {
			label, command = full, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(command)
		}
		harmless := strings.HasPrefix(strings.ToLower(label), "harmless") || strings.HasPrefix(file, "harmless")
		found := set.Check(shellCall(command))
		for _, key := range []string{"all", columns[1]} {
			if shares[key] == nil {
				shares[key] = &share{}
			}
			shares[key].all++
			if len(found) > 0 {
				shares[key].stopped++
			}
		}
		if harmless && len(found) > 0 {
			fmt.Printf("STOPPED %s:%d [%s] %s\n\t%s: %s\n", file, n+1, columns[1], command, found[0].Rule,
				found[0].Reason)
		}
		if !harmless && len(found) == 0 {
			fmt.Printf("MISSED %s:%d [%s] %s\n", file, n+1, columns[1], command)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shares)) {
		s := shares[key]
		fmt.Printf("SHARE %s %s: %d of %d stopped, %.2f%%\n", file, key, s.stopped, s.all,
			100*float64(s.stopped)/float64(s.all))
	}
}
