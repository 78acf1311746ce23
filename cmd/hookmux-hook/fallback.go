package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// unchecked is the text that an agent known only from its user's files gets if its call
// couldn't be checked.
const unchecked = "hookmux could not check this call because its daemon is not responding; run: " +
	"hookmux daemon restart\n"

// uncheckedByService is the same if the system service is installed.
const uncheckedByService = "hookmux could not check this call because neither its daemon nor its system service is " +
	"responding; run: " + paths.Repair

// withoutDaemon answers a call that no daemon answered: if guards may apply, as `hookmux
// evaluate` decides. It knows which guards are on; the note is only a file that any program
// of the user can write, so it can only add events. The client can't read the note that the
// system service keeps: with the service, each event is evaluated.
func (c *call) withoutDaemon(stderr io.Writer) neutral.Answer {
	if c.observes || c.deniesUnavailable() || !c.hasService() && !c.isGuarded() && !c.coveredByBuiltin() {
		return c.answerUnavailable()
	}
	answer, err := c.runEvaluate()
	if err == nil {
		return answer
	}
	if c.opt.debug {
		writeText(stderr, frame.DebugStart+"hookmux evaluate: "+err.Error()+"\n")
	}
	return c.answerUnavailable()
}

// answerUnavailable returns the answer if the call can't be checked. Its time may be over,
// so it does nothing that could take long.
func (c *call) answerUnavailable() neutral.Answer {
	switch {
	case c.observes:
		return c.row.Neutral
	case c.deniesUnavailable():
		return c.row.Deny
	case !c.isGuarded():
		return c.row.Neutral
	case !c.known:
		return neutral.Answer{Exit: 2, Stderr: unchecked}
	}
	if c.hasService() {
		return withReason(c.row.Unchecked, uncheckedByService)
	}
	return c.row.Unchecked
}

// hasService reports whether the system service keeps the user's state.
func (c *call) hasService() bool {
	d, err := paths.Find(c.getenv)
	return err == nil && d.IsSystem()
}

// deniesUnavailable reports whether the user chose that calls are denied while no daemon
// answers.
func (c *call) deniesUnavailable() bool { return c.opt.deny && c.row.Deny != (neutral.Answer{}) }

// isGuarded reports whether a guard, a rule or a hook that guards applies to this event. If
// hookmux was ever in use, a note that is missing, damaged, old or not hookmux's own means
// that guards are on: it may add events, and takes none away.
func (c *call) isGuarded() bool {
	dirs, err := paths.Find(c.getenv)
	if err != nil {
		return false
	}
	if dirs.IsSystem() {
		return !c.known || c.isBuiltinKind() // the note belongs to the user
	}
	covers, err := guardnote.Read(dirs.State)
	switch {
	case guardnote.Covers(covers, c.opt.agent, c.opt.event, c.row.Kind):
		return true
	case err == nil, errors.Is(err, os.ErrNotExist) && !wasUsed(dirs):
		return false
	}
	return !c.known || c.isBuiltinKind()
}

// isBuiltinKind reports whether hookmux's own guards look at such events.
func (c *call) isBuiltinKind() bool {
	return guardnote.Covers(guardnote.Builtin(), c.opt.agent, c.opt.event, c.row.Kind)
}

// coveredByBuiltin reports whether hookmux's own guards would look at this event if they are
// on. If hookmux was never in use there are none.
func (c *call) coveredByBuiltin() bool {
	if !c.isBuiltinKind() {
		return false
	}
	dirs, err := paths.Find(c.getenv)
	return err == nil && wasUsed(dirs)
}

// wasUsed reports whether hookmux was installed, or its daemon ran, in these
// places.
func wasUsed(d paths.Dirs) bool {
	if d.Installation() != nil {
		return true
	}
	for _, file := range []string{filepath.Join(d.State, "journal.db"), guardnote.File(d.State)} {
		if _, err := os.Lstat(file); err == nil {
			return true
		}
	}
	return false
}

// evaluateWait limits how long `hookmux evaluate` may take. It takes a fraction of a
// second on an idle machine.
const evaluateWait = 15 * time.Second

// maxAnswer limits what is read of its answer.
const maxAnswer = 32 << 20

// runEvaluate runs `hookmux evaluate`, which decides without a daemon.
func (c *call) runEvaluate() (neutral.Answer, error) {
	program, err := daemonstart.FindProgram(c.getenv)
	if err != nil {
		return neutral.Answer{}, err
	}
	if c.hasService() {
		program = paths.SystemProgram("hookmux-start")
	}
	args := []string{program, "evaluate", "--frame=" + c.request.ID}
	if c.request.Truncated {
		args = append(args, "--truncated")
	}
	args = append(args, c.opt.agent, c.opt.event)
	until := earlierOf(time.Now().Add(evaluateWait), c.time.last)
	out, err := runProgram(args, c.env, c.request.Payload, until)
	if err != nil {
		return neutral.Answer{}, err
	}
	reply, err := frame.ReadReply(bufio.NewReader(bytes.NewReader(out)), frame.Standard)
	switch {
	case err != nil:
		return neutral.Answer{}, err
	case reply.ID != c.request.ID:
		return neutral.Answer{}, errors.New("it answered another call")
	}
	return answerOf(reply), nil
}

// runProgram runs a program with a text on its stdin and returns its output. A program that
// isn't done in time is killed.
func runProgram(args, env []string, stdin []byte, until time.Time) ([]byte, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		_ = inRead.Close()
		_ = inWrite.Close()
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		defer func() { _ = null.Close() }()
	}
	var proc *os.Process
	if err == nil {
		proc, err = os.StartProcess(args[0], args, &os.ProcAttr{Env: env, Files: []*os.File{inRead, outWrite, null}})
	}
	_ = inRead.Close() // the program has its own ends
	_ = outWrite.Close()
	if err != nil {
		_ = inWrite.Close()
		_ = outRead.Close()
		return nil, err
	}
	end := time.AfterFunc(time.Until(until), func() {
		_ = proc.Kill()
		_ = outRead.Close() // other holders of the other end keep nothing waiting
	})
	defer end.Stop()
	go func() {
		_, _ = inWrite.Write(stdin) // a program that does not read everything may still answer
		_ = inWrite.Close()
	}()
	out, err := io.ReadAll(io.LimitReader(outRead, maxAnswer))
	_ = outRead.Close()
	state, errWait := proc.Wait()
	switch {
	case err != nil || errWait != nil:
		return nil, errors.Join(err, errWait)
	case !state.Success():
		return nil, errors.New(state.String())
	}
	return out, nil
}
