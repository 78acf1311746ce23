package authority

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// followHolder is rule 3 for a pseudo terminal: above is the process that
// holds its master, the leader's parent, and what is above that.
func (r *Rules) followHolder(f *Facts, above []Process, here hop, place TrustedTerminal, depth int) ([]way, Verdict) {
	holder := above[0]
	place.Holder = holder.Process
	if r.isLogin(above) {
		return r.followLogin(f, above, here, place, depth)
	}
	if isPrivilegedRelay(holder) {
		return r.followRelay(f, above, here, depth)
	}
	if holds, known := f.holdsMaster(holder.PID, place.TTY); known && holds && r.isSound(holder) {
		switch base := holder.base(); {
		case base == "script":
			ways, v := r.followRelay(f, above, here, depth)
			for i := range ways {
				ways[i].place.NoCode = "script writes down what is shown here, where other programs can read it; run " +
					"this outside of script"
			}
			return ways, v
		case base == "tmux":
			return r.followTmux(f, above, here, place, depth)
		case base == "zellij":
			return r.followClients(f, above, here, depth)
		case byName(base, 0) == terminal || slices.Contains(r.Terminals, holder.Program):
			return r.followDisplay(f, above, here, place)
		}
	} else if known && holds && slices.Contains(r.Terminals, holder.Program) {
		return r.followDisplay(f, above, here, place)
	}
	return r.unproven(f, holder, here, place)
}

// unproven returns a terminal whose holder says nothing about who is behind it. A
// person may have trusted it.
func (r *Rules) unproven(_ *Facts, holder Process, here hop, place TrustedTerminal) ([]way, Verdict) {
	if r.Trusts != nil && r.Trusts(holder.PID, holder.Start) {
		place.Kind = Trusts
		return []way{{place: place, hops: []hop{here}}}, Verdict{}
	}
	instead := "use ssh, a console, tmux or a desktop terminal"
	if byName(holder.Name, kernelNameLimit) == loginDaemon { // it is ssh that is not believed
		instead = "use a console, a desktop terminal or a login through this machine's own ssh service"
	}
	v := refuseCall(Unproven, "hookmux can't tell who's typing in this terminal, which %s (pid %d) opened; %s, or run "+
		"`hookmux whoami add %d` in one of them", printableName(holder.Name), holder.PID, instead, holder.PID)
	v.Outcome, v.Holder = NeedPIN, holder.Process
	return nil, v
}

// isLogin recognizes a daemon of root's that lets people in, or its child that has become
// the user. Only the parent proves anything: any program can have a child's name and hide
// itself.
func (r *Rules) isLogin(above []Process) bool {
	daemon := func(p Process) bool { return p.isRoot() && byName(p.Name, kernelNameLimit) == loginDaemon }
	if r.UID == 0 {
		// Every process is root's: the file that runs must speak as well.
		daemon = func(p Process) bool { return byName(p.base(), 0) == loginDaemon && r.isSound(p) }
	}
	if daemon(above[0]) {
		return true
	}
	return len(above) > 1 && daemon(above[1]) && byName(above[0].Name, kernelNameLimit) == loginDaemon &&
		(above[0].Program == "" || r.UID == 0)
}

// followLogin accepts a login over the network, unless it may come from an
// agent on this very machine: then every such connection of this user must
// itself begin at a trusted terminal, because nothing says which of them this one is. A
// login with no address in root's records, and not let in by a daemon that
// listens itself, came by something else: a socket file or a line to a virtual
// machine, which any program can open.
func (r *Rules) followLogin(f *Facts, above []Process, here hop, place TrustedTerminal, depth int) ([]way, Verdict) {
	place.Kind, here.trusted = Remote, true
	found := []way{{place: place, hops: []hop{here}}}
	overNetwork, recorded := false, false
	for _, login := range f.logins() {
		named := slices.ContainsFunc(above, func(p Process) bool { return p.PID == login.PID })
		if !named || login.TTY != "" && login.TTY != place.TTY {
			continue
		}
		recorded = true
		if _, err := netip.ParseAddr(login.Remote); err != nil {
			continue
		}
		if !login.Local {
			return found, Verdict{}
		}
		overNetwork = true
	}
	callers, known := f.localCallers()
	if !known {
		return r.unproven(f, above[0], here, place)
	}
	for _, pid := range callers {
		if r.OwnLink != nil && r.OwnLink(pid) {
			continue
		}
		chain := f.chain(pid)
		if len(chain) == 0 {
			continue // it hung up
		}
		if ways, why := r.followTerminal(f, chain, depth+1); len(ways) == 0 {
			v := refuseCall(LocalLogin, "hookmux can't tell who's typing here: this login may come from %s (pid %d) on this "+
				"machine; log in from another machine, or end that connection", printableName(chain[0].Name), pid)
			v.Agent, v.AgentPID, v.Since = why.Agent, why.AgentPID, why.Since
			return nil, v
		}
	}
	if !overNetwork && (recorded || !r.isBelowListener(above)) {
		return r.unrecordedLogin(f, above[0], here, place)
	}
	// Only connections that are there can be seen, so this login must still have one.
	if !f.relays(above[0].PID) {
		return nil, refuseCall(LocalLogin, "the login at %s (%s, pid %d) doesn't pass on what is typed: it was stopped or its "+
			"connection is gone; log in again", place.TTY, printableName(above[0].Name), above[0].PID)
	}
	return found, Verdict{}
}

// isBelowListener reports whether a login was let in by a daemon that listens, which
// it does on the network alone: that is root's, and so is the one for this login.
// One that was handed its connection has no other above it.
func (r *Rules) isBelowListener(above []Process) bool {
	daemons := 0
	for _, p := range above {
		if byName(p.Name, kernelNameLimit) != loginDaemon {
			break
		}
		if p.isRoot() {
			daemons++
		}
	}
	return daemons >= 2
}

// unrecordedLogin returns a login that no record says a network address of.
func (r *Rules) unrecordedLogin(f *Facts, holder Process, here hop, place TrustedTerminal) ([]way, Verdict) {
	ways, v := r.unproven(f, holder, here, place)
	if len(ways) == 0 {
		v.Why = fmt.Sprintf("neither utmp nor systemd-logind says which network address the login at %s came from; it "+
			"may have come through a socket on this machine, as agents can. Log in over the network or at a console, or "+
			"trust this login from there with `hookmux whoami add %d`", place.TTY, holder.PID)
	}
	return ways, v
}

// isPrivilegedRelay recognises sudo and its kin, which run what they were
// asked for on a pseudo terminal of its own.
func isPrivilegedRelay(p Process) bool {
	return p.EUID == 0 && slices.Contains([]string{"sudo", "doas", "su"}, p.Name)
}

// followRelay goes on at the relay's own terminal.
func (r *Rules) followRelay(f *Facts, above []Process, here hop, depth int) ([]way, Verdict) {
	ways, v := r.followTerminal(f, above, depth+1)
	for i := range ways {
		ways[i].hops = append([]hop{here}, ways[i].hops...)
		if c := ways[i].place.Client; c != nil && c.Popup { // the popup is the relay's terminal, not the command's
			inside := *c
			inside.Popup = false
			ways[i].place.Client = &inside
		}
	}
	return ways, v
}

// followTmux continues at each client of a tmux server. What the server says about a client
// is used only if that client really is connected to it.
func (r *Rules) followTmux(f *Facts, above []Process, here hop, place TrustedTerminal, depth int) ([]way, Verdict) {
	server := above[0]
	state, ok := f.tmux(server)
	if !ok {
		return r.unproven(f, server, here, place)
	}
	pane := ""
	for _, p := range state.Panes {
		if p.TTY == place.TTY {
			pane = p.ID
		}
	}
	here.popup = pane == ""
	none := refuseCall(NoClient, "no client is attached to this tmux session (pid %d%s); attach to it and try again, or %s",
		server.PID, sinceText(server.StartTime), inYourTerminal)
	var found []way
	for _, c := range state.Clients {
		if c.PID == server.PID || !f.connected(c.PID, server.PID) {
			continue
		}
		chain := f.chain(c.PID)
		if len(chain) == 0 {
			continue
		}
		ways, v := r.followTerminal(f, chain, depth+1)
		if len(ways) == 0 && (none.Cause == NoClient || v.Agent != "") {
			none = v
		}
		for _, w := range ways {
			client := &TerminalClient{TmuxClient: c, Server: server.Process, Shows: here.popup || c.Pane == pane,
				Popup: here.popup}
			if w.place.Client == nil {
				w.place.Client = client
			} else { // a popup over this client is only a part of what the outer tmux shows
				w.place.Client = &TerminalClient{TmuxClient: w.place.Client.TmuxClient, Server: w.place.Client.Server}
			}
			found = append(found, way{place: w.place, hops: []hop{here},
				clients: append([]*TerminalClient{client}, w.clients...)})
		}
	}
	return found, none
}

// followClients continues at the clients of a multiplexer that doesn't say which of them
// shows what: you're there, but not surely looking at this.
func (r *Rules) followClients(f *Facts, above []Process, here hop, depth int) ([]way, Verdict) {
	server := above[0]
	trusted := r.Trusts != nil && r.Trusts(server.PID, server.Start)
	none := refuseCall(NoClient, "no client is attached to %s (pid %d); attach to it, or %s",
		printableName(server.Name), server.PID, inYourTerminal)
	var found []way
	for _, pid := range f.clientsOf(server) {
		chain := f.chain(pid)
		if len(chain) == 0 || pid == server.PID {
			continue
		}
		ways, v := r.followTerminal(f, chain, depth+1)
		if len(ways) == 0 && (none.Cause == NoClient || v.Agent != "") {
			none = v
		}
		for _, w := range ways {
			client := &TerminalClient{TmuxClient: TmuxClient{PID: pid}, Server: server.Process,
				Shows: trusted}
			w.place.NoCode = printableName(server.Name) + " lets other programs read its panes and type into them; run " +
				"this outside of it"
			found = append(found, way{place: w.place, hops: []hop{here},
				clients: append([]*TerminalClient{client}, w.clients...)})
		}
	}
	return found, none
}

// followDisplay accepts an installed terminal program whose windows are on a
// display that has a keyboard. Editors hold terminals in a process of their
// own and the display in its parent.
func (r *Rules) followDisplay(f *Facts, above []Process, here hop, place TrustedTerminal) ([]way, Verdict) {
	holder := above[0]
	for i, p := range above {
		if i > 3 || p.base() != holder.base() {
			break
		}
		d := f.display(p.PID)
		if d.PID == 0 {
			continue
		}
		if !d.Input {
			break
		}
		if v, bad := r.accuseChain(f, f.chain(d.PID)); bad {
			return nil, v
		}
		place.Kind = Desktop
		return []way{{place: place, hops: []hop{here}}}, Verdict{}
	}
	return r.unproven(f, holder, here, place)
}

// Programs that may be between your shell and a command that only makes hookmux stricter:
// they run their arguments and nothing else.
var (
	shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ksh93", "mksh", "oksh", "tcsh", "csh", "ash",
		"yash", "busybox", "toybox", "nu", "elvish", "xonsh", "pwsh", "osh"}
	runners = []string{
		"make", "gmake", "bmake", "just", "task", "ninja", "env", "time", "nice", "ionice", "chrt", "nohup",
		"timeout", "stdbuf", "xargs",
		"sudo", "doas", "su", "runuser", "setpriv", "login", "script", "hookmux",
	}
)

// isShell reports whether a process is an installed shell.
func (r *Rules) isShell(p Process) bool {
	return slices.Contains(shells, p.base()) && r.isSound(p)
}

// isHookmux reports whether a process runs hookmux's own program.
func (r *Rules) isHookmux(p Process) bool {
	if p.Program == "" {
		return false
	}
	runs := r.Hookmux
	if runs == nil {
		runs = RunsHookmux
	}
	return runs(p.Process, strings.TrimSuffix(p.Program, deletedSuffix))
}

// isRunner reports whether a process only runs what you typed. Programs that run as root
// can't be read, but no agent can be one.
func (r *Rules) isRunner(p Process) bool {
	if p.EUID == 0 && r.UID != 0 && p.Program == "" {
		return slices.Contains(runners, p.Name)
	}
	return r.isShell(p) || slices.Contains(runners, p.base()) && r.isSound(p)
}

// RunsShell reports whether a process is an installed shell.
func (r *Rules) RunsShell(table proc.Table, p proc.Process) bool {
	program, err := table.Program(p.PID)
	return err == nil && r.isShell(Process{Process: p, Program: program})
}

// ServesTerminals reports whether a process has the name of a program that opens terminals:
// what it starts doesn't belong to one program.
func (r *Rules) ServesTerminals(table proc.Table, p proc.Process) bool {
	program, err := table.Program(p.PID)
	if err != nil {
		return true
	}
	q := Process{Process: p, Program: program}
	name, _, _ := strings.Cut(p.Name, ":")
	return byName(q.base(), 0) != ordinary || byName(name, kernelNameLimit) != ordinary ||
		slices.Contains(r.Terminals, program) ||
		q.base() == "systemd" || q.base() == "launchd"
}
