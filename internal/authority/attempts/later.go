package attempts

// byOtherPrograms are attempts to pass for a person by having another program run the
// command that decides.
var byOtherPrograms = []Attempt{
	{Name: "other-newgrp", Needs: "sg", Try: "a set-uid program that starts a shell (`sg`)", Command: "sg $(id -gn) -c 'DO'"},
	{Name: "other-socat", Needs: "socat", Try: "a terminal of socat's that its command controls",
		Command: "socat -u EXEC:'DO',pty,ctty,setsid,stderr - </dev/null"},
	{Name: "other-expect", Needs: "expect", Try: "a terminal of expect's", Command: "expect -c 'spawn DO; expect eof' </dev/null"},
	{Name: "other-gdb", Needs: "gdb", Try: "a debugger's command (`gdb -ex 'shell …'`)", Command: "gdb -batch -nx -ex 'shell DO' </dev/null"},
	{Name: "other-strace", Needs: "strace", Try: "a program that is traced (`strace -f`)", Command: "strace -f -o /dev/null DO"},
	{Name: "other-git-alias", Needs: "git", Try: "an alias of git's", Command: "git -c alias.x='!DO' x"},
	{Name: "other-git-hook", Needs: "git", Try: "a hook of git's",
		Command: `d=$(mktemp -d); mkdir $d/h; printf '#!/bin/sh\n%s\n' 'DO' >$d/h/post-commit; chmod +x $d/h/post-commit; ` +
			`git init -q $d/r && git -C $d/r -c core.hooksPath=$d/h -c user.name=x -c user.email=x commit -q --allow-empty -m x`},
	{Name: "other-make", Needs: "make", Try: "make", Command: "printf 'x:\\n\\tDO\\n' | make -sf - x"},
	{Name: "other-proxy-command", Needs: "ssh", Try: "ssh's `ProxyCommand`",
		Command: "ssh -F none -o ProxyCommand='DO' -o BatchMode=yes nowhere </dev/null || true"},
	{Name: "other-prompt", Needs: "bash", Try: "the prompt of an interactive shell (`PROMPT_COMMAND`)",
		Command: "echo exit | PROMPT_COMMAND='DO' setsid -w bash --norc -i 2>/dev/null"},
	{Name: "other-start-file", Try: "a start file of an interactive shell (`ENV`)",
		Command: "f=$(mktemp); echo 'DO; exit' >$f; ENV=$f setsid -w sh -i </dev/null 2>/dev/null"},
	{Name: "other-exit-trap", Try: "a shell's trap, run when it ends", Command: "sh -c \"trap 'DO' EXIT; exit 0\""},
	{Name: "other-coproc", Needs: "bash", Try: "a coprocess", Command: "bash -c 'coproc DO; wait'"},
	{Name: "other-respawn", Needs: "tmux", Try: "a pane of a tmux of its own that starts anew (`respawn-pane`)",
		Command: "env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L n new-session -d 'sleep 300'; " +
			"env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L n respawn-pane -k DO"},
	{Name: "other-tmux-hook", Needs: "tmux", Try: "a hook of a tmux of its own",
		Command: "env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L h new-session -d 'sleep 300'; " +
			"env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L h set-hook -g window-renamed \"run-shell 'DO'\" \\; rename-window x"},
	{Name: "other-multipath", Needs: "python3", Try: "`ssh` to its own machine over multipath TCP",
		Command: "ssh -tt -q -F none -p 2222 -i $OWN_KEY -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null " +
			`-o IdentitiesOnly=yes -o ProxyCommand="python3 -c '
import os, select, socket
try: s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
except OSError: s = socket.socket()
s.connect((\"127.0.0.1\", 2222))
while True:
    for f in select.select([0, s], [], [])[0]:
        b = os.read(0, 65536) if f == 0 else s.recv(65536)
        if not b: os._exit(0)
        s.sendall(b) if f == 0 else os.write(1, b)
'" trusted@127.0.0.1 'DO' </dev/null`},
}

func init() {
	for i := range byOtherPrograms {
		byOtherPrograms[i].Class, byOtherPrograms[i].On, byOtherPrograms[i].End = Person, Process, Refused
	}
}
