package attempts

// socketOfTheDaemon is where the daemon of a user without /run/user listens.
const socketOfTheDaemon = "$HOME/.local/state/hookmux/run/daemon.sock"

// processes are attempts to pass for a person that a real program makes: an
// agent that nobody knows, after its first hook call, at a person's terminal.
var processes = []Attempt{
	{Name: "real-plain", Class: Person, On: Process | Agent, End: Refused, Try: "its shell tool, plainly",
		Command: "DO"},
	{Name: "real-setsid", Class: Person, On: Process | Agent, End: Refused, Try: "`setsid`",
		Command: "setsid -w DO </dev/null"},
	{Name: "real-nohup", Class: Person, On: Process | Agent, End: Refused, Try: "`nohup`",
		Command: "nohup DO </dev/null"},
	{Name: "real-env", Class: Person, On: Process | Agent, End: Refused, Try: "`env -i`",
		Command: "env -i HOME=$HOME PATH=$PATH DO"},
	{Name: "real-double-fork", Class: Person, On: Process | Agent, End: Refused, Try: "a double fork",
		Command: "(setsid sh -c 'sleep 1; DO' </dev/null >/dev/null 2>&1 &) &"},
	{Name: "real-hidden-fork", Class: Person, On: Process | Agent, End: Refused, Try: "a double fork with `env -i`",
		Command: "(env -i HOME=$HOME PATH=$PATH setsid sh -c 'sleep 1; DO' </dev/null >/dev/null 2>&1 &) &"},
	{Name: "real-script", Class: Person, On: Process | Agent, End: Refused, Try: "`script`", Needs: "script",
		Command: "script -qc 'DO' /dev/null </dev/null"},
	{Name: "real-script-fork", Class: Person, On: Process | Agent, End: Refused, Try: "`script` after a double fork",
		Needs: "script", Command: "(setsid script -qc 'sleep 1; DO' /dev/null </dev/null >/dev/null 2>&1 &) &"},
	{Name: "real-ssh", Class: Person, On: Process, End: Refused, Try: "`ssh -tt` to its own machine", Needs: "ssh",
		Command: "ssh -tt -q -F none -p 2222 -i $OWN_KEY -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null " +
			"-o IdentitiesOnly=yes trusted@127.0.0.1 'DO' </dev/null"},
	{Name: "real-ssh-plain", Class: Person, On: Process, End: Refused, Try: "`ssh` to its own machine, no terminal",
		Needs: "ssh", Command: "ssh -q -F none -p 2222 -i $OWN_KEY -o StrictHostKeyChecking=no " +
			"-o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes trusted@127.0.0.1 'DO' </dev/null"},
	{Name: "real-tmux", Class: Person, On: Process | Agent, End: Refused, Try: "a tmux that it started with `env -i`",
		Needs: "tmux", Command: "env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L q new-session -d DO"},
	{Name: "real-run-shell", Class: Person, On: Process | Agent, End: Refused, Try: "`tmux run-shell`", Needs: "tmux",
		Command: "env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L r new-session -d 'sleep 300'; " +
			"env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L r run-shell 'DO'"},
	{Name: "real-pipe-pane", Class: Person, On: Process | Agent, End: Refused, Try: "`tmux pipe-pane`", Needs: "tmux",
		Command: "env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L p new-session -d 'sleep 300'; " +
			"env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L p pipe-pane 'DO'"},
	{Name: "real-user-namespace", Class: Person, On: Process | Agent, End: Refused, Needs: "unshare",
		Try: "a user namespace in which it is root", Command: "unshare -Ur DO || DO"},
	{Name: "real-pid-namespace", Class: Person, On: Process, End: Refused, Needs: "unshare",
		Try: "a process namespace of its own, in which nothing stands above it", Command: "unshare -Urpf DO || DO"},
	{Name: "real-name", Class: Person, On: Process | Agent, End: Refused, Needs: "bash",
		Try: "a process that calls itself sshd", Command: "bash -c 'exec -a sshd DO'"},
	{Name: "real-limits", Class: Person, On: Process | Agent, End: Refused, Needs: "prlimit",
		Try: "raising the limit that carries the mark", Command: "prlimit --locks=unlimited:unlimited DO || DO"},
	{Name: "real-subreaper", Class: Person, On: Process | Agent, End: Refused, Needs: "perl",
		Try:     "a process that adopts what was started further below (`PR_SET_CHILD_SUBREAPER`)",
		Command: "perl -e 'syscall(157, 36, 1, 0, 0, 0); system(q{(setsid DO &)}); 1 while wait != -1'"},
	{Name: "real-pseudo-terminal", Class: Person, On: Process | Agent, End: Refused, Needs: "python3",
		Try:     "a pseudo terminal of its own, typed into",
		Command: "python3 -c 'import pty,sys; pty.spawn(sys.argv[1:])' DO </dev/null || DO"},
	{Name: "real-connect-then-exec", Class: Person, On: Process, End: Refused, Needs: "perl",
		Try: "a process that connects and then becomes another program", Raw: true,
		Command: `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => $ARGV[0]); ` +
			`use Fcntl; fcntl($s, F_SETFD, 0); $f = fileno $s; ` +
			`exec "sh", "-c", "echo \"\$REQUEST\" >&$f; head -n 1 <&$f"' "` + socketOfTheDaemon + `"`},
	{Name: "real-handed-on", Class: Person, On: Process, End: Refused, Needs: "perl",
		Try: "a connection that is handed on to another process while the one that connected ends", Raw: true,
		Command: `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => $ARGV[0]); pipe R, W; ` +
			`if (fork) { close R; exit } close W; <R>; print $s "$ENV{REQUEST}\n"; print scalar <$s>' ` +
			`"` + socketOfTheDaemon + `" | cat`},
	{Name: "real-descriptor", Class: Person, On: Process, End: Refused, Needs: "python3", Raw: true,
		Try: "a connection whose descriptor is given to another process (`SCM_RIGHTS`), while the one that " +
			"connected ends",
		Command: `python3 -c 'import os, socket, sys
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
if os.fork():
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); socket.send_fds(a, [b"x"], [s.fileno()]); os._exit(0)
a.close(); _, fds, _, _ = socket.recv_fds(b, 1, 1); b.recv(1)
s = socket.socket(fileno=fds[0]); s.sendall((os.environ["REQUEST"] + "\n").encode())
print(s.makefile().readline())' "` + socketOfTheDaemon + `" | cat`},
	{Name: "real-debugger", Class: Person, On: Process, End: Refused, Needs: "perl",
		Try: "a debugger attached to the daemon (`ptrace`), then its shell tool",
		Command: `perl -e '$p = qx(pgrep -o -f "hookmux daemon"); exit 1 unless $p > 0; ` +
			`exit(syscall(101, 16, $p + 0, 0, 0) != -1)' && DO`},
	{Name: "real-session-variables", Class: Person, On: Process | Agent, End: Refused,
		Try: "the variables of a login (`SSH_CONNECTION`, `SSH_TTY`, `XDG_SESSION_ID`)",
		Command: "env -i HOME=$HOME PATH=$PATH SSH_CONNECTION='192.0.2.1 5 192.0.2.2 22' SSH_TTY=/dev/pts/0 " +
			"XDG_SESSION_ID=1 TERM=xterm DO"},
	{Name: "real-login-shell", Class: Person, On: Process | Agent, End: Refused, Needs: "bash",
		Try:     "an interactive login shell of its own",
		Command: "setsid -w bash --norc --noprofile -lic 'DO' </dev/null"},
	{Name: "real-login-name", Class: Person, On: Process | Agent, End: Refused, Needs: "bash",
		Try: "a shell that calls itself a login shell (`-bash`)", Command: "bash -c 'exec -a -bash DO'"},
	{Name: "real-process-group", Class: Person, On: Process | Agent, End: Refused, Needs: "perl",
		Try: "a process group of its own", Command: "perl -e 'setpgrp; exec @ARGV' DO"},
	{Name: "real-orphan", Class: Person, On: Process | Agent, End: Refused,
		Try:     "a process whose parent was killed (`kill -9 $$`)",
		Command: "sh -c '(sleep 1; DO) </dev/null >/dev/null 2>&1 & kill -9 $$' || true"},
	{Name: "real-title", Class: Person, On: Process | Agent, End: Refused, Needs: "perl",
		Try:     "a process that changes its command line to that of sshd's session",
		Command: "perl -e '$0 = q(sshd: user@pts/0); system @ARGV' DO"},
	{Name: "real-own-proc", Class: Person, On: Process | Agent, End: Refused, Needs: "unshare",
		Try:     "a mount namespace in which `/proc` is empty",
		Command: "unshare -Urm sh -c 'mount -t tmpfs none /proc; DO' || DO"},
	{Name: "real-controlling-terminal", Class: Person, On: Process | Agent, End: Refused,
		Try:     "a new session that takes the terminal over (`setsid --ctty`)",
		Command: "setsid -w -c DO </dev/tty 2>/dev/null || setsid -w DO </dev/null"},
	{Name: "real-no-new-privileges", Class: Person, On: Process | Agent, End: Refused, Needs: "setpriv",
		Try:     "a process without the right to new ones (`setpriv --no-new-privs`)",
		Command: "setpriv --no-new-privs DO"},
	{Name: "real-nested-terminals", Class: Person, On: Process | Agent, End: Refused, Needs: "script",
		Try:     "a terminal inside a terminal (`script` in `script`)",
		Command: `script -qc "script -qc 'DO' /dev/null" /dev/null </dev/null`},
}

// buttons are attempts to approve by what a person could press on a notification.
var buttons = []Attempt{
	{Name: "the buttons of a notification (`dunstctl action`, `makoctl invoke`)", Class: Person, On: Process,
		End:  Refused,
		Test: "internal/daemon.TestButtonsOfNotificationsApproveNothing"},
	{Name: "a notification server's signal in its place (`ActionInvoked`)", Class: Person, On: Process, End: Refused,
		Test: "internal/notify.TestOnlyTheOwnersButtonsCount"},
}

// unavailable are attempts to have nobody look at a call.
var unavailable = []Attempt{
	{Name: "thousands of silent connections", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/server.TestIdleConnectionsStarveNobody"},
	{Name: "connections of many processes", Class: Unavailable, On: Facts, End: Refused,
		Test: "internal/server/peers.TestBusiestProcessMakesRoom"},
	{Name: "half-sent requests of 16 MiB", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/server.TestHalfSentRequestsKeepWithinTheBudget"},
	{Name: "hundreds of streams that stay open", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/server.TestConversationsLeaveRoomForHooks"},
	{Name: "lines without an end", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/server.TestAHugeLineIsCutOff"},
	{Name: "a daemon that was stopped (`SIGSTOP`)", Class: Unavailable, On: Process, End: Asked,
		Test: "cmd/hookmux-hook.TestStoppedDaemonIsNoWayAround"},
	{Name: "a daemon that hangs up, or talks nonsense", Class: Unavailable, On: Process, End: Asked,
		Test: "cmd/hookmux-hook.TestDaemonThatHangsUpIsNoWayAround"},
	{Name: "a daemon that says nothing", Class: Unavailable, On: Process, End: Asked,
		Test: "cmd/hookmux-hook.TestSilentDaemonIsNoWayAround"},
	{Name: "killing the daemon again and again", Class: Unavailable, On: Process, End: Asked,
		Test: "internal/platform/daemonstart.TestDaemonComesBackAfterDeaths"},
	{Name: "holding the daemon's lock", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/platform/daemonstart.TestLockOfAnIntruderIsBypassed"},
	{Name: "a full disk", Class: Unavailable, On: Facts, End: Refused,
		Test: "internal/platform/daemonstart.TestFullDisk"},
	{Name: "ending the hook client with a signal while it waits", Class: Unavailable, On: Process, End: Asked,
		Test: "cmd/hookmux-hook.TestTerminationOfAGuardedCall"},
	{Name: "a standard input that is never closed", Class: Unavailable, On: Process, End: Refused,
		Test: "cmd/hookmux-hook.TestStdinThatIsNeverClosed"},
	{Name: "another program on the daemon's socket", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/platform/daemonprogram.TestProgramOfThePeer"},
	{Name: "a script on the daemon's socket that hides its program as the daemon does", Class: Unavailable, On: Process,
		End: Refused, Test: "internal/platform/daemonprogram.TestInterpreterThatHides"},
	{Name: "a small, a huge or a debugged program on the daemon's socket that hides itself", Class: Unavailable,
		On: Facts, End: Refused, Test: "internal/platform/daemonprogram.TestOtherProgramsInTheDaemonsPlaceAreNotBelieved"},
	{Name: "a socket in a folder that others can write", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/platform/paths.TestSocketInAFolderOpenToOthersIsNotBelieved"},
	{Name: "other places by `HOME`, `XDG_*`, `HOOKMUX_RUNTIME_DIR`", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/platform/paths.TestInstalledProgramTakesNothingFromTheEnvironment"},
	{Name: "an older daemon that stays in the place of a newer one", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/e2e.TestANewerClientMakesTheOlderDaemonLeave"},
	{Name: "a journal of a newer version", Class: Unavailable, On: Facts, End: Refused,
		Test: "internal/recorder/journal.TestNewerSchemaIsLeftAlone"},
	{Name: "a state folder that cannot be written or is not a folder", Class: Unavailable, On: Facts, End: Asked,
		Test: "internal/judge.TestStateFolderThatCannotBeUsed"},
	{Name: "a database that is damaged or gone", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/daemon.TestABrokenDatabaseNeverStopsDeciding"},
	{Name: "large requests that wait for their answers", Class: Unavailable, On: Facts, End: Refused,
		Test: "internal/server/peers.TestWaitingBodiesMakeRoom"},
	{Name: "the daemon's socket removed, or something else in its place", Class: Unavailable, On: Process, End: Asked,
		Test: "internal/server.TestSocketThatIsNotOursIsNoticed"},
	{Name: "folders, pipes and links in the place of the daemon's locks", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/platform/daemonstart.TestLockThatIsNoFile"},
	{Name: "pipes where starts and deaths of the daemon are noted", Class: Unavailable, On: Process, End: Refused,
		Test: "internal/platform/daemonstart.TestPipesForNotes"},
	{Name: "a daemon started under limits in which it cannot work", Class: Unavailable, On: Process, End: Asked,
		Test: "internal/cli/daemoncmd.TestDaemonNeedsRoomToWork"},
	{Name: "lowering the limits of the running daemon (`prlimit`)", Class: Unavailable, On: Process, End: Asked,
		Test: "internal/server.TestServerThatCanLetNobodyInGivesUp"},
	{Name: "faults of all sorts, one after the other, under load", Class: Unavailable, On: Process, End: Asked,
		Test: "internal/chaos.TestPromisesHoldUnderFaults"},
	{Name: "removing what is noted of wrong PINs", Class: Person, On: Facts, End: Refused,
		Test: "internal/approvals/ledger.TestWrongPINsSurviveARestart"},
	{Name: "a connection of a process that has ended, under a number that was given out again", Class: Person,
		On: Process, End: Refused, Test: "internal/platform/proc.TestPeerLives"},
	{Name: "wrong PINs, with the daemon killed in between", Class: Person, On: Facts, End: Refused,
		Test: "internal/approvals/ledger.TestWrongPINsSurviveARestart"},
	{Name: "wrong PINs, with the clock set back in between", Class: Person, On: Facts, End: Refused,
		Test: "internal/approvals/ledger.TestClockSetBack"},
	{Name: "a bus of the agent's own that plays polkit (`DBUS_SYSTEM_BUS_ADDRESS`)", Class: Person, On: Facts,
		End: Refused, Test: "internal/platform/polkit.TestBusIsAtAFixedPlace"},
	{Name: "a bus or a polkit that another user runs", Class: Person, On: Facts, End: Refused,
		Test: "internal/platform/polkit.TestBusOfAnotherUser"},
	{Name: "an approval while polkit fails, is dismissed, or finds nobody to ask", Class: Person, On: Facts,
		End: Refused, Test: "internal/platform/polkit.TestNoFailureApproves"},
	{Name: "settings in a file or a variable that say which approvals ask for the PIN", Class: Person, On: Facts,
		End: Refused, Test: "internal/selection/config.TestSealedSettingsAreNoMatterOfFiles"},
	{Name: "every method that decides, in JSON-RPC and in cmux's words", Class: Person, On: Facts, End: Refused,
		Test: "internal/daemon.TestEveryAttemptToApproveOneself"},
}

// files are attempts to change what hookmux believes.
var files = []Attempt{
	{Name: "a forged off.json, then a new daemon", Class: Files, On: Process, End: Refused,
		Test: "internal/daemon.TestForgedOffCountsForNothing"},
	{Name: "a forged off.json while no daemon answers", Class: Files, On: Facts, End: Refused,
		Test: "internal/judge.TestDecisions"},
	{Name: "a forged list of guarded events, with the daemon stopped", Class: Files, On: Process, End: Refused,
		Test: "cmd/hookmux-hook.TestJudgeDecidesWithoutADaemon"},
	{Name: "a missing or damaged list of guarded events", Class: Files, On: Process, End: Refused,
		Test: "cmd/hookmux-hook.TestMissingOrDamagedNoteCountsAsGuardsOn"},
	{Name: "forged or changed permissions, PIN and trusted terminals", Class: Files, On: Facts, End: Refused,
		Test: "internal/approvals/ledger.TestForgery"},
	{Name: "a forged or changed record of trusted projects", Class: Files, On: Facts, End: Refused,
		Test: "internal/selection/trust.TestForgedRecordTrustsNothing"},
	{Name: "settings that were edited", Class: Files, On: Facts, End: Refused,
		Test: "internal/selection/confirmed.TestWhatIsInForce"},
	{Name: "settings that were emptied, removed, renamed, or replaced by a folder or a link", Class: Files, On: Facts,
		End: Refused, Test: "internal/selection/confirmed.TestLostFilesLoseNothing"},
	{Name: "settings that were never confirmed", Class: Files, On: Facts, End: Refused,
		Test: "internal/daemon.TestWithoutConfirmationFilesOnlyRefuse"},
	{Name: "a record of what was confirmed that is gone or forged", Class: Files, On: Facts, End: Refused,
		Test: "internal/judge.TestConfirmedStateIsInForce"},
	{Name: "settings that change while the person looks at them", Class: Files, On: Facts, End: Refused,
		Test: "internal/selection/confirmed.TestOnlyWhatWasSeenIsTaken"},
	{Name: "damaged settings", Class: Files, On: Facts, End: Refused,
		Test: "internal/judge.TestDamagedSettingsDoNotSwitchGuardsOff"},
	{Name: "pipes, links to devices, folders and huge files in the state folder", Class: Files, On: Process,
		End: Refused, Test: "internal/daemon.TestMisfitsInTheStateFolderHurtNobody"},
	{Name: "editing hookmux's files with an agent's tools", Class: Files, On: Facts | Agent, End: Refused,
		Test: "internal/daemon.TestNoAgentEditsOurFiles"},
	{Name: "shell profiles, launch files, timers and agents' settings, with an agent's file tools", Class: Files,
		On: Facts, End: Refused, Test: "internal/guard.TestStartFilesOfFileTools"},
}

// unreadable are attempts to say a call so that guards cannot read it.
var unreadable = []Attempt{
	{Name: "commands with NUL, in UTF-16, too deep, too long", Class: Unreadable, On: Facts, End: Refused,
		Test: "internal/guard.TestUnreadableIsNotHarmless"},
	{Name: "an input that is cut, has two ends, or too many commands", Class: Unreadable, On: Facts, End: Refused,
		Test: "internal/guard.TestUnreadableInput"},
	{Name: "a command as a list or an object, members that stand twice, other encodings", Class: Unreadable, On: Facts,
		End: Asked, Test: "agent.TestUnreadableCallsAreKnown"},
	{Name: "half a payload", Class: Unreadable, On: Process, End: Asked,
		Test: "cmd/hookmux-hook.TestHalfAPayloadIsNotHarmless"},
}

// reading are attempts to look at other sessions.
var reading = []Attempt{
	{Name: "every method that shows something, from an agent's tools", Class: Reading, On: Facts, End: Hidden,
		Test: "internal/daemon.TestAgentsReadTheirOwnSession"},
	{Name: "the same from what the agent left behind with its variables or its mark", Class: Reading, On: Facts,
		End: Hidden, Test: "internal/daemon.TestAgentsReadTheirOwnSession"},
	{Name: "streams of events, sessions and requests", Class: Reading, On: Facts, End: Hidden,
		Test: "internal/daemon.TestAgentsFollowTheirOwnSession"},
	{Name: "texts that a person sends to another agent", Class: Reading, On: Facts, End: Refused,
		Test: "internal/daemon.TestOutboxIsForThePluginOfTheAgent"},
	{Name: "texts for other sessions of the same agent, from its tools", Class: Reading, On: Facts, End: Refused,
		Test: "internal/daemon.TestOutboxIsForThePluginOfTheAgent"},
}

// remaining are attempts that are not refused, with the reason.
var remaining = []Attempt{
	{Name: "remote control of a terminal", Class: Person, End: Passes,
		Try: "a terminal that it traces, or that takes commands (`kitty @`, `wezterm cli send-text`, zellij " +
			"`write-chars`, X11's XTEST, AppleScript)",
		Why: "what such a terminal shows and gets looks like a person's. Wayland, `kernel.yama.ptrace_scope=1` and " +
			"`dev.tty.legacy_tiocsti=0` make it smaller; `hookmux doctor` looks at them. What asks for a code is " +
			"harder to get"},
	{Name: "a debugger on the person's shell", Class: Person, End: Passes,
		Try: "a debugger attached to the person's own shell (`gdb -p`)",
		Why: "whoever may trace a process is that process; `kernel.yama.ptrace_scope=1` forbids it. A single answer " +
			"passes within seconds of the person typing, what asks for a code does not"},
	{Name: "keys into the pane in use", Class: Person, End: Passes,
		Try: "keys into the very pane in which the person typed within the last two seconds, or `send-keys -K` into " +
			"an older shell within some seconds",
		Why: "they come from where the person's keys come from. You would see it. A single answer passes, what asks " +
			"for a code does not"},
	{Name: "ssh from elsewhere", Class: Person, End: Passes, Try: "`ssh` back from another machine",
		Why: "a login from another machine is what a person does"},
	{Name: "the person's own shell", Class: Person, End: Passes,
		Try: "a profile or alias that it wrote by ways the guards do not see, run by the person's shell",
		Why: "the person's shell runs it at the person's terminal. guard.own-files denies writing those"},
	{Name: "an unknown shell script", Class: Person, End: Passes,
		Try: "an agent that is a shell script, started by the person and unknown to hooks; an editor's agent in that " +
			"editor's own terminal",
		Why: "nothing tells it from a script of the person's"},
	{Name: "a daemon that hides", Class: Unavailable, End: Passes,
		Try: "a program made for it that listens in the daemon's place: without libraries, about as large as hookmux, " +
			"hiding itself as the daemon does",
		Why: "nothing that can be read tells the two apart, and every key of the daemon's is yours to read"},
	{Name: "killing the hook client", Class: Unavailable, End: Passes,
		Try: "killing the hook client itself (`SIGKILL`, or any signal in its first milliseconds), or stopping it " +
			"until the agent gives up",
		Why: "a dead process answers nothing, and most agents go on then ([which](#when-the-hook-client-is-killed)). " +
			"A signal while the client waits is answered"},
	{Name: "taking programs away", Class: Unavailable, End: Passes,
		Try: "removing the hook client's program, or its x bit, by ways the guards do not see",
		Why: "the installed hook does nothing when hookmux is gone from the machine, so that an agent goes on working"},
	{Name: "limits on the agent", Class: Unavailable, End: Passes,
		Try: "lowering the agent's own limits (`prlimit`) until it cannot start its hooks",
		Why: "the agent decides what happens when a hook cannot be started"},
	{Name: "no hooks at all", Class: Unavailable, End: Passes,
		Try: "`HOOKMUX_DISABLED` by a settings file that a repository brings",
		Why: "the agent itself sets it for its hooks, and asks before it believes a new folder: look at its settings " +
			"then. guard.own-files keeps an agent from writing such a file"},
	{Name: "forged files with the key", Class: Files, End: Passes,
		Try: "reading `consent.key` and forging permissions, or restarting the daemon after deleting `pin.json` or putting " +
			"back " +
			"an older `pin-tries.json`",
		Why: "the key is a file of yours. Without a PIN an unproven terminal is refused"},
	{Name: "scripts", Class: Guarded, End: Passes,
		Try: "a script it wrote and then runs, or an installed program that deletes or edits files",
		Why: "guards read commands; they are no sandbox"},
	{Name: "requests disappear", Class: Person, End: Passes,
		Try: "reporting that a turn or session ended, or requests under another agent's name (256 at most)",
		Why: "reporting is open to every process. A report is never a yes: the agent's own prompt is there then. " +
			"Look " +
			"at what a request asks for, not at who it says it is"},
	{Name: "reading by a timer", Class: Reading, End: Passes,
		Try: "reading by at, cron or `systemd-run` without the agent's variables, or reading the files themselves",
		Why: "status bars and exporters read, too, and get what is redacted; and an agent reads what you can read"},
}
