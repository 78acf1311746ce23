package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A mutated loop may never end, or take all memory: it is given this much of both.
const (
	leastTime   = 20 * time.Second
	timesLonger = 20
	memoryKiB   = 8 << 20
)

// slowTest separates tests that are tried first from those that are tried only if the first notice nothing.
const slowTest = 300 * time.Millisecond

// ownTest is one test of the package: how long it takes, and which operators it reaches.
type ownTest struct {
	name    string
	takes   time.Duration
	reaches map[int]bool
}

// runTests starts a test binary in the package's folder. The state is the result for a change.
func (m *mutated) runTests(binary string, limit time.Duration, names []string, environment ...string) (state, string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second)
	defer cancel()
	arguments := []string{
		"-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, memoryKiB), "sh", binary, "-test.failfast",
		"-test.timeout=" + limit.String(),
	}
	if len(names) > 0 {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = regexp.QuoteMeta(name)
		}
		arguments = append(arguments, "-test.run=^("+strings.Join(quoted, "|")+")$")
	}
	command := exec.CommandContext(ctx, "sh", arguments...)
	command.Dir = filepath.Join(m.module, m.dir)
	command.Env = append(os.Environ(), environment...)
	command.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	switch {
	case ctx.Err() != nil, strings.Contains(out.String(), "panic: test timed out after"):
		return timedOut, out.String()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return killed, out.String()
	}
	return lived, out.String()
}

// listTests runs every test by itself without any change and notes what it reaches.
func (m *mutated) listTests(binary, work string) ([]ownTest, error) {
	list := exec.Command(binary, "-test.list=^(Test|Example|Fuzz)")
	list.Dir = filepath.Join(m.module, m.dir)
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing tests: %w", err)
	}
	var tests []ownTest
	for _, name := range strings.Fields(string(out)) {
		trace := filepath.Join(work, "trace")
		os.Remove(trace)
		start := time.Now()
		came, text := m.runTests(binary, 10*time.Minute, []string{name}, "MUTATION_TRACE="+trace)
		if came != lived {
			return nil, fmt.Errorf("%s fails without any change:\n%s", name, text)
		}
		test := ownTest{name: name, takes: time.Since(start), reaches: map[int]bool{}}
		rows, err := os.ReadFile(trace)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, row := range strings.Fields(string(rows)) {
			if place, err := strconv.Atoi(row); err == nil {
				test.reaches[place] = true
			}
		}
		tests = append(tests, test)
	}
	return tests, nil
}

// tryChanges finds out about every change that is covered.
func (m *mutated) tryChanges(binary, work string, tests []ownTest, workers int) {
	queue := make(chan *change)
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			for c := range queue {
				if c.alone {
					c.state = m.tryAlone(filepath.Join(work, fmt.Sprintf("alone%d.test", worker)), work, tests, c)
				} else {
					c.state = m.trySwitched(binary, tests, c)
				}
			}
		})
	}
	for _, c := range m.changes {
		if c.state == "" {
			queue <- c
		}
	}
	close(queue)
	running.Wait()
}

func (m *mutated) trySwitched(binary string, tests []ownTest, c *change) state {
	turn := 1
	for i, r := range replacements[c.operator] {
		if r == c.replacement {
			turn = i + 1
		}
	}
	environment := []string{fmt.Sprintf("MUTATION_PLACE=%d", c.place), fmt.Sprintf("MUTATION_TURN=%d", turn)}
	var reaching []ownTest
	for _, test := range tests {
		if test.reaches[c.place] {
			reaching = append(reaching, test)
		}
	}
	return m.tryTests(binary, reaching, environment...)
}

func (m *mutated) tryAlone(binary, work string, tests []ownTest, c *change) state {
	if err := m.buildAlone(work, binary, c); err != nil {
		return notViable
	}
	return m.tryTests(binary, tests)
}

// tryTests runs fast tests first.
func (m *mutated) tryTests(binary string, tests []ownTest, environment ...string) state {
	var fast, slow []string
	var fastTime, slowTime time.Duration
	for _, test := range tests {
		if test.takes < slowTest {
			fast, fastTime = append(fast, test.name), fastTime+test.takes
		} else {
			slow, slowTime = append(slow, test.name), slowTime+test.takes
		}
	}
	came := lived
	if len(fast) > 0 {
		came, _ = m.runTests(binary, m.patience+timesLonger*fastTime, fast, environment...)
	}
	if came == lived && len(slow) > 0 {
		came, _ = m.runTests(binary, m.patience+timesLonger*slowTime, slow, environment...)
	}
	return came
}
