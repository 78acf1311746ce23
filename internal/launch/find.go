package launch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Other tools, and hookmux itself, put shims in front of an agent: programs of the agent's name that
// start the next one on PATH. Two such shims can call each other forever. Active remembers, in the
// environment of what is started, which programs were tried, so that a call which came back takes
// the next.

// ActiveVariable is the one variable that is set for an agent.
const ActiveVariable = "HOOKMUX_RUN_ACTIVE"

// maxDepth ends circles that nothing else recognised.
const maxDepth = 16

// Active is the run that this process came out of, if any.
type Active struct {
	Agent string
	PID   int    // of the process that became the program
	Depth int    // how many runs of this agent are above
	Sum   string // of the arguments the program was given
	Tried []string
}

// ParseActive reads the variable; anything unreadable is no run.
func ParseActive(value string) Active {
	parts := strings.Split(value, ":")
	if len(parts) < 2 {
		return Active{}
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid <= 0 {
		return Active{}
	}
	a := Active{Agent: parts[0], PID: pid}
	if len(parts) > 3 {
		a.Depth, _ = strconv.Atoi(parts[2])
		a.Sum = parts[3]
		a.Tried = parts[4:]
	}
	return a
}

// String returns the variable's value. PATH cannot name a directory with a colon,
// so a colon parts the programs here as well.
func (a Active) String() string {
	return strings.Join(append([]string{a.Agent, strconv.Itoa(a.PID), strconv.Itoa(a.Depth), a.Sum}, a.Tried...), ":")
}

// Search is the input of Find.
type Search struct {
	Agent   string
	Program string // name to look for, or a path, which is used as it is
	Path    string // PATH
	Self    string // this executable
	Hook    string // hookmux-hook, to recognise arguments that carry our hooks
	Args    []string
	Active  Active
	// Line is this process and those above it.
	Line []int
}

// Found is the program to run.
type Found struct {
	Program string
	// Next is the next value of ActiveVariable, once the arguments are known.
	Next func(argv []string) string
}

// ErrNotFound says that PATH has no such program.
var ErrNotFound = errors.New("not found")

// notFoundError is ErrNotFound in a sentence of its own.
type notFoundError string

func (e notFoundError) Error() string { return string(e) }

func (e notFoundError) Is(target error) bool { return target == ErrNotFound }

// Find picks the agent's program.
func Find(s Search) (Found, error) {
	next := Active{Agent: s.Agent, PID: s.ownPID()}
	if s.Active.Agent == s.Agent && slices.Contains(s.Line, s.Active.PID) {
		next.Depth = s.Active.Depth + 1
		if s.cameBack() {
			next.Tried = s.Active.Tried
		}
	}
	if next.Depth >= maxDepth {
		return Found{}, fmt.Errorf("%s: started itself %d times through `hookmux run`; some shim on PATH calls "+
			"back, remove it", s.Agent, next.Depth)
	}
	program, err := s.pickProgram(next.Tried)
	if err != nil {
		return Found{}, err
	}
	next.Tried = append(slices.Clone(next.Tried), program)
	return Found{Program: program, Next: func(argv []string) string {
		next.Sum = hashArgs(argv[1:])
		return next.String()
	}}, nil
}

func (s Search) ownPID() int {
	if len(s.Line) > 0 {
		return s.Line[0]
	}
	return os.Getpid()
}

// cameBack distinguishes a shim that was started by hookmux and calls it again from an agent
// that starts another agent. Only the former is the very same process, or passes on the very
// arguments it got, or arguments with our hooks in them.
func (s Search) cameBack() bool {
	return s.Active.PID == s.ownPID() || s.Active.Sum == hashArgs(s.Args) ||
		s.Hook != "" && slices.ContainsFunc(s.Args, func(arg string) bool { return strings.Contains(arg, s.Hook) })
}

// hashArgs returns a hash that represents a list of arguments.
func hashArgs(args []string) string {
	h := sha256.New()
	for _, arg := range args {
		_, _ = io.WriteString(h, strconv.Itoa(len(arg))+":"+arg) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// pickProgram takes the first program on PATH that is not hookmux, was not tried and
// does not look like a shim of ours; a mere look-alike is still better than
// nothing.
func (s Search) pickProgram(tried []string) (string, error) {
	if strings.ContainsRune(s.Program, filepath.Separator) {
		return s.exactProgram()
	}
	var lookalike string
	for _, dir := range filepath.SplitList(s.Path) {
		if !filepath.IsAbs(dir) {
			continue // never from the directory one happens to be in
		}
		file := filepath.Join(dir, s.Program)
		if !paths.Runnable(file) || paths.SameFile(file, s.Self) ||
			slices.ContainsFunc(tried, func(t string) bool { return paths.SameFile(file, t) }) {
			continue
		}
		if callsBack(file) {
			if lookalike == "" {
				lookalike = file
			}
			continue
		}
		return file, nil
	}
	switch {
	case lookalike != "":
		return lookalike, nil
	case len(tried) > 0:
		return "", notFoundError(fmt.Sprintf("every %s on PATH leads back to `hookmux run` (%s); put the real one on PATH",
			s.Program, strings.Join(tried, ", ")))
	}
	return "", notFoundError(fmt.Sprintf("%s isn't on PATH; install it, or give its path in place of the name", s.Program))
}

func (s Search) exactProgram() (string, error) {
	file, err := filepath.Abs(s.Program)
	if err != nil {
		return "", err
	}
	if !paths.Runnable(file) {
		return "", notFoundError("there's no program " + file)
	}
	if paths.SameFile(file, s.Self) {
		return "", fmt.Errorf("%s: is hookmux itself; give the path of the agent's own program", file)
	}
	return file, nil
}

// callsBack reports whether a file is a script that hands over to `hookmux run`.
func callsBack(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	head, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil || !bytes.HasPrefix(head, []byte("#!")) {
		return false
	}
	return runsUs.Match(head)
}

var runsUs = lazyregexp.New(`hookmux["'}]*[ \t]+run\b`)
