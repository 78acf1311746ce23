// Command hookmux-hook is run by agents at every hook: it passes stdin to the daemon, prints
// the daemon's answer and exits with its code.
//
//	hookmux-hook [--on-unavailable=deny] AGENT EVENT [DEADLINE]
//
// It decides nothing and knows no agent. Without a daemon the agent gets the answer that
// changes nothing for that agent and event, unless a guard may apply or the user chose deny
// (fallback.go). Nothing else is ever on stdout.
//
// A new process runs for every tool call, so start-up is nearly all of its cost: few
// packages, no netpoller, plain system calls on the one path that matters. deps_test.go
// keeps it so.
package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/version"
)

func main() {
	os.Exit(runClient(os.Args[1:], os.Environ(), fd(0), fd(1), fd(2)))
}

// replaceSelf runs a program in place of this one; nil if that can't be done.
var replaceSelf = execProgram

// usageExit is EX_USAGE. It must not be 2: many agents read that as "blocked".
const usageExit = 64

// runClient returns the program without its process.
func runClient(args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	start := time.Now()
	if paths.LeavesToSystem(paths.GetenvFrom(env)) && replaceSelf != nil {
		_ = replaceSelf(paths.SystemProgram("hookmux-hook"), append([]string{"hookmux-hook"}, args...), env) // if it's gone, this one goes on
	}
	opt, err := parseArgs(args, paths.GetenvFrom(env))
	switch {
	case opt.help:
		writeText(stdout, usage)
		return 0
	case opt.version:
		writeText(stdout, "hookmux-hook "+version.String+"\n")
		return 0
	case len(args) == 0 && !isTerminal(stdin):
		// An agent that reads another's config and leaves out what it doesn't know
		// runs this program without arguments. That must not look like a hook that
		// failed: some deny every call then.
		drainStream(stdin)
		return 0
	case err != nil || isTerminal(stdin):
		if err != nil {
			writeText(stderr, err.Error()+"\n")
		}
		writeText(stderr, usage)
		if !isTerminal(stdin) {
			drainStream(stdin) // an agent that writes to a closed pipe may take that for a failure
		}
		return usageExit
	}
	c := newCall(opt, env, start)
	answer, done := c.tryQuickly(stdin)
	if !done {
		answer = superviseCall(c, stdin, stderr)
	}
	writeText(stdout, answer.Stdout)
	writeText(stderr, answer.Stderr)
	if c.row.IgnoresOutputAfterExit && answer.Stdout+answer.Stderr != "" {
		untilRead(stdout, stderr)
	}
	return answer.Exit
}

// superviseCall makes the call and answers in its place if necessary: when the time is over,
// whatever the call is stuck in (an agent that never closes stdin), and when the agent asks
// this process to end. The call's goroutine may be left behind; the process is about to
// exit.
func superviseCall(c *call, stdin io.Reader, stderr io.Writer) neutral.Answer {
	done := make(chan neutral.Answer, 1)
	go func() { done <- c.makeCall(stdin, stderr) }()
	over := time.NewTimer(time.Until(c.time.last))
	defer over.Stop()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(ended)
	select {
	case answer := <-done:
		return answer
	case <-over.C:
		return c.withoutAnswer()
	case <-ended:
		// The sender of the signal may be the agent, which doesn't read an answer any
		// more, or a program that wants the call to pass unchecked.
		if c.unsent.Load() && !c.contained { // a daemon is being waited for; the event is not lost with us
			_ = c.leaveEvent() // nothing is left to report to
		}
		return c.withoutAnswer()
	}
}

// withoutAnswer returns the answer if there's no time left to ask.
func (c *call) withoutAnswer() neutral.Answer {
	if c.contained {
		return c.unheard()
	}
	return c.answerUnavailable()
}

// writeText writes to one of the process's streams. A reader that went away is no reason to
// fail: nothing is left to report to.
func writeText(w io.Writer, text string) {
	if text != "" {
		_, _ = io.WriteString(w, text)
	}
}

func drainStream(r io.Reader) {
	_, _ = io.Copy(io.Discard, r) // what can't be read needs no reading
}
