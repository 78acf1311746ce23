//go:build unix

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/install"
)

// start measures how long you wait when hookmux has little to do.
func (b *bench) start(ctx context.Context) error {
	p, err := b.startDaemon(ctx, "start", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	hookmux := filepath.Join(b.bin, "hookmux")
	command := func(want string, args ...string) *program {
		return &program{args: args, env: p.Env, dir: p.dir, check: func(stdout []byte) error {
			if !strings.Contains(string(stdout), want) {
				return fmt.Errorf("%v printed %q, want %q in it", args, stdout, want)
			}
			return nil
		}}
	}
	empty := command("", filepath.Join(b.tools, "empty"))
	version := command("hookmux", hookmux, "--version")
	sessions := command("[]", hookmux, "ps", "--json")
	results, err := interleave(ctx, b.rounds, []contender{
		{"empty", empty.run}, {"version", version.run}, {"ps", sessions.run},
	})
	if err != nil {
		return err
	}
	base := wallTimes(results[0])
	b.table.atMost("start: hookmux --version ÷ empty program", median(ratios(wallTimes(results[1]), base)), 3, "×")
	b.table.atMost("start: hookmux ps --json ÷ empty program", median(ratios(wallTimes(results[2]), base)), 4, "×")
	return nil
}

// copyPrograms copies the programs of a folder, as installing does: a file that
// the linker has just written is slower to start.
func copyPrograms(from, to string, names ...string) error {
	for _, name := range names {
		if err := install.CopyProgram(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}
