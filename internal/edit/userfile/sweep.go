package userfile

import (
	"os"
	"path/filepath"
	"regexp"
)

// Unfinished returns the files that writers of a path began and, being killed,
// never put in its place. One that is still written is among them.
func Unfinished(path string) []string {
	target, err := resolveLinks(path)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(target))
	if err != nil {
		return nil
	}
	ours := regexp.MustCompile(`^\.` + regexp.QuoteMeta(filepath.Base(target)) + `\.[0-9]+\.tmp$`)
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && ours.MatchString(e.Name()) {
			out = append(out, filepath.Join(filepath.Dir(target), e.Name()))
		}
	}
	return out
}

// Sweep removes them. It takes the lock that every writer holds while it has such a file, so
// what is found is no longer in use.
func Sweep(path string) {
	if len(Unfinished(path)) == 0 {
		return
	}
	target, err := resolveLinks(path)
	if err != nil {
		return
	}
	unlock, err := lock(target)
	if err != nil {
		return
	}
	defer unlock()
	for _, left := range Unfinished(path) {
		_ = os.Remove(left) // found again the next time
	}
}
