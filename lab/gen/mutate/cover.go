package main

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// block is a part of a file that tests reach, as the coverage profile says it.
type block struct{ startLine, startColumn, endLine, endColumn int }

func (b block) contains(p token.Position) bool {
	behind := p.Line > b.startLine || p.Line == b.startLine && p.Column >= b.startColumn
	before := p.Line < b.endLine || p.Line == b.endLine && p.Column <= b.endColumn
	return behind && before
}

// markUncovered runs the package's tests as they are, and marks the changes that none of them reaches.
// The profile leaves out the conditions of a switch's cases: those are covered if a test reaches them.
func (m *mutated) markUncovered(work string, tests []ownTest) error {
	profile := filepath.Join(work, "profile")
	command := goCommand(m.module, "test", "-trimpath", "-count=1", "-coverprofile", profile, "./"+m.dir)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("tests fail without any change: %w\n%s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	blocks, err := parseProfile(string(text))
	if err != nil {
		return err
	}
	for _, c := range m.changes {
		reached := !c.alone && slices.ContainsFunc(tests, func(test ownTest) bool { return test.reaches[c.place] })
		if c.state == "" && !reached && !isCovered(blocks[filepath.Base(c.file)], c.position) {
			c.state = notCovered
		}
	}
	return nil
}

func isCovered(blocks []block, position token.Position) bool {
	for _, b := range blocks {
		if b.contains(position) {
			return true
		}
	}
	return false
}

// parseProfile returns the blocks that were reached, for each file's base name: a profile of one package has no more.
func parseProfile(text string) (map[string][]block, error) {
	blocks := map[string][]block{}
	for _, row := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		name, rest, found := strings.Cut(row, ".go:")
		var b block
		var statements, count int
		_, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.startLine, &b.startColumn, &b.endLine, &b.endColumn,
			&statements, &count)
		if !found || err != nil {
			return nil, fmt.Errorf("row of a coverage profile: %q", row)
		}
		if count > 0 {
			base := filepath.Base(name) + ".go"
			blocks[base] = append(blocks[base], b)
		}
	}
	return blocks, nil
}
