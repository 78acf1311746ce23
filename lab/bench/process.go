//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// build makes a helper program with the flags of the Makefile, so that it is
// compared with programs made the same way.
func (b *bench) build(ctx context.Context, name, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(b.tools, name),
		pkg)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	return nil
}

// sample is the cost of one process, in microseconds.
type sample struct{ wall, cpu float64 }

// contender is one of those that take turns.
type contender struct {
	name string
	run  func() (sample, error)
}

const (
	warmUp = 10
	// breather lets a daemon finish what it does after an answer, so that the next contender doesn't
	// pay for it. It must be well above the time for which the daemon's drain lets events gather: work
	// put off for longer than the breather would be charged to the one that runs next, including the
	// reference.
	breather = 15 * time.Millisecond
)

// interleave runs every contender once per round, in an order that changes.
// The result is by contender, then by round.
func interleave(ctx context.Context, rounds int, contenders []contender) ([][]sample, error) {
	results := make([][]sample, len(contenders))
	order := make([]int, len(contenders))
	for i := range order {
		order[i] = i
	}
	for round := range warmUp + rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, err := contenders[i].run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[i].name, err)
			}
			if round >= warmUp {
				results[i] = append(results[i], s)
			}
			time.Sleep(breather)
		}
	}
	return results, nil
}

func wallTimes(list []sample) []float64 {
	out := make([]float64, len(list))
	for i, s := range list {
		out[i] = s.wall
	}
	return out
}

func cpus(list []sample) []float64 {
	out := make([]float64, len(list))
	for i, s := range list {
		out[i] = s.cpu
	}
	return out
}

// program is one way of running something, over and over.
type program struct {
	args []string
	env  []string
	dir  string
	// stdin must fit a pipe: it is there before the process is.
	stdin []byte
	// check looks at what it printed.
	check func(stdout []byte) error
}

// run starts the process and waits for its end. Reading what it printed is not
// timed: it waits in the pipe.
func (p *program) run() (sample, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return sample{}, err
	}
	defer inRead.Close()
	_, err = inWrite.Write(p.stdin)
	if err = errors.Join(err, inWrite.Close()); err != nil {
		return sample{}, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return sample{}, err
	}
	defer outRead.Close()
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		outWrite.Close()
		return sample{}, err
	}
	defer errRead.Close()
	began := time.Now()
	process, err := os.StartProcess(p.args[0], p.args,
		&os.ProcAttr{Dir: p.dir, Env: p.env, Files: []*os.File{inRead, outWrite, errWrite}})
	if err != nil {
		outWrite.Close()
		errWrite.Close()
		return sample{}, err
	}
	state, err := process.Wait()
	took := time.Since(began)
	outWrite.Close()
	errWrite.Close()
	if err != nil {
		return sample{}, err
	}
	stdout, err := io.ReadAll(outRead)
	if err != nil {
		return sample{}, err
	}
	stderr, err := io.ReadAll(errRead)
	if err != nil {
		return sample{}, err
	}
	if !state.Success() || len(stderr) > 0 {
		return sample{}, fmt.Errorf("%s: %s", state, stderr)
	}
	if p.check != nil {
		if err := p.check(stdout); err != nil {
			return sample{}, err
		}
	}
	return sample{wall: micros(took), cpu: micros(state.UserTime() + state.SystemTime())}, nil
}

func printsNothing(stdout []byte) error {
	if len(stdout) > 0 {
		return fmt.Errorf("printed %q", stdout)
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// usage reads a process's cpu time and resident memory from outside.
func usage(pid int) (cpu time.Duration, resident int64, err error) {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		// After the name, which may hold anything: state is field 3.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		user, err1 := strconv.ParseInt(fields[11], 10, 64)
		system, err2 := strconv.ParseInt(fields[12], 10, 64)
		resident, err3 := residentNow(pid)
		const tick = time.Second / 100 // USER_HZ is 100 on every Linux
		return time.Duration(user+system) * tick, resident, errors.Join(err1, err2, err3)
	}
	out, err := exec.Command("ps", "-o", "rss=,time=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("ps says %q", out)
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, 0, err
	}
	for part := range strings.SplitSeq(fields[1], ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, 0, err
		}
		cpu = 60*cpu + time.Duration(n*float64(time.Second))
	}
	return cpu, kilobytes << 10, nil
}

// residentNow prefers the exact count: since Linux 6.2 the one in status may
// be off by some dozen pages per core, which is much for a small program.
func residentNow(pid int) (int64, error) {
	if n, err := kilobytesIn(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Rss:"); err == nil {
		return n, nil
	}
	return kilobytesIn(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
}

func kilobytesIn(file, field string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("%s: has no %s", file, field)
}
