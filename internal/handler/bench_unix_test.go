//go:build unix

package handler

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/hookmux/hookmux/hook"
)

// BenchmarkCommandTrue is what one command costs beside what spawning costs
// anyway: see BenchmarkSpawnTrue.
func BenchmarkCommandTrue(b *testing.B) {
	fixture := newBench(b)
	h := fixture.handler(b, hook.Registration{Handler: "command", Target: "true"})
	b.ResetTimer()
	for b.Loop() {
		if _, err := h.Handle(context.Background(), &fixture.call); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSpawnTrue starts the program `true` with three pipes and waits.
func BenchmarkSpawnTrue(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	dir, env := b.TempDir(), os.Environ()
	for b.Loop() {
		var mine, theirs [3]*os.File
		for i := range mine {
			r, w, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			mine[i], theirs[i] = r, w
			if i == 0 {
				mine[i], theirs[i] = w, r
			}
		}
		p, err := os.StartProcess(path, []string{"true"}, &os.ProcAttr{Dir: dir, Env: env, Files: theirs[:]})
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range theirs {
			f.Close()
		}
		mine[0].Close()
		io.Copy(io.Discard, mine[1])
		io.Copy(io.Discard, mine[2])
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
		mine[1].Close()
		mine[2].Close()
	}
}
