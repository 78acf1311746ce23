package authority

import (
	"fmt"
	"slices"
	"time"
)

const (
	// accessStep is how far the kernel lets a terminal's access time lag
	// behind what was read from it.
	accessStep = 8 * time.Second
	// activitySlack allows for tmux's clock of whole seconds, and for the time
	// between a key and the command it starts.
	activitySlack = 2 * time.Second
	// sessionSlack is how long after a session began its own setup (chown,
	// mesg in a profile) may still touch the terminal.
	sessionSlack = 3 * time.Second
	// oneShot is how long a command may take that answers right away. One
	// that runs longer talks with the user, who then types shortly before
	// each answer.
	oneShot = 10 * time.Second
)

// checkIntent is rules 4 to 6: did the user at this trusted terminal mean it?
func (r *Rules) checkIntent(f *Facts, w *way, a Action) Verdict {
	v := Verdict{Terminal: w.place}
	doubt := func(cause Cause, why string) Verdict {
		v.Outcome, v.Cause, v.Why = NeedCode, cause, why
		return v
	}
	if cause, why := r.findOtherProgram(w, a); cause != NoCause {
		return doubt(cause, why)
	}
	if !w.shows() {
		return doubt(OtherPane, "your tmux shows another pane than the one this was run in")
	}
	if !a.Tightens {
		if cause, why := r.findScript(f, w); cause != NoCause {
			return doubt(cause, why)
		}
		if why := r.findTypist(f, w); why != "" {
			return doubt(Shared, why)
		}
		if !r.wasTyped(f, w) {
			if len(w.clients) > 0 {
				return doubt(NotTyped, "in tmux other programs can type, too, and hookmux saw no key from you")
			}
			return doubt(NotTyped, "no one typed this command in this terminal ("+w.place.TTY+")")
		}
	}
	if a.Weakens {
		why := a.Why
		if why == "" {
			why = "this takes protection away"
		}
		return doubt(Weakens, why)
	}
	v.Outcome, v.Why = Allowed, "comes from "+w.place.TTY+", a "+w.place.Kind.String()
	return v
}

// findOtherProgram checks the part of rule 4 that applies to every command: only shells and
// runners between it and the shell that you had before the request came up.
func (r *Rules) findOtherProgram(w *way, a Action) (Cause, string) {
	for n, h := range w.hops {
		for i, p := range h.stands {
			first, last := i == 0, i == len(h.stands)-1
			switch {
			case last && n == len(w.hops)-1 && !h.popup && !r.isShell(p) && !h.trusted:
				return NotShell, printableName(p.Name) + " is all that runs at " + p.TTY + ": there's no shell that you could have typed this into"
			case first || h.popup && last || p.PID == 1:
				// the command itself, a relay, what a popup was opened for, or
				// the first process of a container
			case !r.isRunner(p):
				return Between, printableName(p.Name) + " is between your shell and this command"
			}
		}
		leader := h.leader()
		if !h.trusted && !h.popup && !a.Since.IsZero() && leader.StartTime.After(a.Since) {
			return YoungShell, "this terminal was opened after the request came up"
		}
	}
	return NoCause, ""
}

// findScript checks the rest of rule 4: hookmux was run by the interactive shell at the
// terminal, as its own job, and not by anything that this shell runs. An agent can write
// scripts, Makefiles and programs that you start.
func (r *Rules) findScript(f *Facts, w *way) (Cause, string) {
	h := w.hops[0]
	caller := h.stands[0]
	if !r.isHookmux(caller) {
		return OtherProgram, printableName(caller.Name) + " asks for this, and not a hookmux command that you typed"
	}
	ranBy := func(p Process) (Cause, string) {
		return Between, printableName(p.Name) + " ran this command, not you at your shell's prompt"
	}
	if len(w.hops) > 1 {
		return ranBy(w.hops[1].stands[0])
	}
	stands := h.stands
	if n := len(stands); n > 2 && stands[n-1].PID == 1 { // the first process of a container, not a shell
		stands = stands[:n-1]
	}
	switch {
	case len(stands) == 1: // a popup for it alone, or a login that runs nothing else
		return NoCause, ""
	case len(stands) > 2:
		return ranBy(stands[1])
	case h.popup:
		return NoCause, "" // tmux runs it by a shell
	}
	shell := stands[1]
	if caller.PGID == shell.PGID || !r.isInteractive(f, shell) {
		return ranBy(shell)
	}
	if f.ranBefore(caller.PID) {
		return Between, "a script started this command (exec); you didn't type it"
	}
	return NoCause, ""
}

// isInteractive reports whether a shell takes its commands from its terminal: it
// was given none, and reads there.
func (r *Rules) isInteractive(f *Facts, shell Process) bool {
	if !r.isShell(shell) || f.stdin(shell.PID) != shell.TTY {
		return false
	}
	args := shell.Args
	if len(args) > 0 {
		args = args[1:] // its own name
	}
	if base := shell.base(); len(args) > 0 && (base == "busybox" || base == "toybox") && slices.Contains(shells, args[0]) {
		args = args[1:]
	}
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(interactiveOptions, args[i]):
		case (args[i] == "--rcfile" || args[i] == "--init-file") && i+1 < len(args) && onlyRootWrites(args[i+1]):
			i++ // an editor's own file for its terminals
		default:
			return false
		}
	}
	return true
}

// interactiveOptions are options of shells that name no command and no file.
var interactiveOptions = []string{"-", "-i", "-l", "-il", "-li", "--login", "--interactive", "--posix", "--norc",
	"--noprofile", "--private", "-P", "-f", "-nologo", "-NoLogo"}

// findTypist looks for an agent that could have typed this: where the kernel
// lets programs type into their own terminal, whatever runs at this one can.
func (r *Rules) findTypist(f *Facts, w *way) string {
	ttys := []string{w.place.TTY}
	for _, h := range w.hops {
		if tty := h.stands[0].TTY; !slices.Contains(ttys, tty) {
			ttys = append(ttys, tty)
		}
	}
	for _, c := range w.clients {
		if c.Asked {
			return "programs can have this tmux ask your terminal (allow-passthrough), and its answers look like keys"
		}
	}
	for _, tty := range ttys {
		if t, ok := f.terminal(tty); ok && t.Opened != "" {
			return t.Opened + " can write to " + tty + ", and what your terminal answers looks like keys"
		}
		pids, known := f.typists(tty)
		seen, told := f.agentSeen(tty)
		if !known || !told {
			return "hookmux cannot tell which programs could type into " + tty
		}
		if seen.After(w.place.Leader.StartTime) {
			return "an agent ran at this terminal (" + tty + "), and this kernel lets programs type ahead into their terminal"
		}
		for _, pid := range pids {
			chain := f.chain(pid)
			if len(chain) == 0 {
				continue
			}
			if _, bad := r.accuseChain(f, chain); bad {
				return fmt.Sprintf("%s (pid %d), which an agent started, runs at this terminal, too, and this kernel lets "+
					"programs type into their terminal", printableName(chain[0].Name), pid)
			}
		}
	}
	return ""
}

// wasTyped is rule 5: input was read at the trusted terminal when the command began. In tmux
// any program can type the command itself, so only keys count that a view waited
// for, each of which must have been read at the trusted terminal as well.
func (r *Rules) wasTyped(f *Facts, w *way) bool {
	first := w.hops[0]
	caller := first.stands[0]
	began := caller.StartTime
	if f.Now.Sub(began) > oneShot {
		began = f.Now
	}
	t, ok := f.terminal(w.place.TTY)
	if !ok {
		return false
	}
	ours := !t.Noted.IsZero() && t.Change.Equal(t.Noted)
	for _, c := range w.clients {
		if c.Active.IsZero() {
			continue // a multiplexer that does not tell
		}
		if c.Active.Before(f.Now.Add(-activitySlack)) || !ours || t.Elsewhere ||
			t.For != (Identity{caller.PID, caller.Start}) {
			return false
		}
	}
	if ours {
		if t.Access.Unix() < t.Change.Unix() { // still where the daemon set it back to
			return false
		}
	} else if t.Change.After(w.place.Leader.StartTime.Add(sessionSlack)) || t.Access.Unix() <= t.Change.Unix() {
		return false // somebody touched it, or nothing was read since it was made
	}
	return !t.Access.Before(began.Add(-accessStep - activitySlack))
}
