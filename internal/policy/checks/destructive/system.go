package destructive

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// vitalUnits are services a machine or its owner can't do without.
var vitalUnits = []string{"ssh", "sshd", "network", "networking", "networkmanager", "dbus", "firewalld", "ufw",
	"docker", "containerd", "kubelet", "cron", "crond", "auditd", "rsyslog"}

var vitalPackages = []string{"sudo", "systemd", "libc6", "glibc", "bash", "coreutils", "apt", "dpkg", "openssh-server",
	"linux-image", "kernel", "init", "python3-minimal", "python3", "python", "perl-base", "libc-bin",
	"bash-completion-base",
	"util-linux", "login", "base", "filesystem", "grub", "grub2"}

func systemRule(x *scope, r *shell.Run) {
	if r.Contained {
		return
	}
	args := r.Args()
	flags, rest := facts.SplitFlags(args)
	name := r.Name()
	line := facts.JoinArgs(args)
	say := func(what string) { x.Report.Add("system", r.Head(), fmt.Sprintf("%s %s", name, what)) }
	switch name {
	case "shutdown", "reboot", "halt", "poweroff":
		if !facts.HasWord(args, "--help", "-c", "--version", "--show") {
			say("stops the machine")
		}
	case "init", "telinit":
		if len(rest) == 1 && facts.HasWord(rest, "0", "1", "6", "s", "S") {
			say("changes the machine's run level")
		}
	case "systemctl", "service", "loginctl":
		systemServices(x, r, flags, rest)
	case "kill":
		killRule(x, r, args)
	case "killall5":
		say("kills every process")
	case "killall", "pkill":
		if facts.HasShort(flags, 'u', 'U') && len(rest) <= 1 || facts.HasWord(rest, ".", ".*", "-1") {
			say("kills all of somebody's processes")
		}
		if facts.HasWord(rest, "systemd", "init", "sshd", "launchd", "WindowServer", "loginwindow") {
			say("kills a vital process")
		}
	case "crontab":
		if facts.HasShort(flags, 'r') {
			say("-r deletes the whole table")
		}
	case "userdel", "deluser", "groupdel":
		if len(rest) > 0 {
			say("deletes an account")
		}
	case "dscl":
		if facts.HasWord(args, "-delete", "delete") {
			say("deletes a directory entry")
		}
	case "passwd":
		if facts.HasWord(flags, "-d", "--delete", "-l", "--lock", "-dl") {
			say("removes an account's password")
		}
	case "usermod":
		if facts.HasWord(flags, "-L", "--lock") {
			say("locks an account")
		}
	case "iptables", "ip6tables", "nft", "ufw", "ip", "ifconfig", "nmcli":
		networkRule(x, r, flags, rest)
	case "umount":
		if facts.HasShort(flags, 'a') || facts.HasWord(rest, "/") {
			say("unmounts everything")
		}
	case "stress", "stress-ng":
		limit := facts.OptionValues(args, "-t", "--timeout")
		if !facts.HasWord(args, "--help", "--version", "-h", "-V") && len(args) > 0 &&
			(len(limit) == 0 || facts.HasWord(limit, "0", "0s")) {
			say("loads the machine without end")
		}
	case "swapoff":
		return
	case "apt", "apt-get", "yum", "dnf", "pacman", "rpm", "dpkg", "apk", "zypper":
		packageRule(x, r, flags, rest)
	case "brew":
		if facts.HasWord(rest, "uninstall", "remove") && len(rest) > 1 && !rest[1].From.Empty() {
			say("uninstalls everything in a list")
		}
	case "launchctl":
		if facts.HasPhrase(line, "bootout system") || facts.HasPhrase(line, "reboot") {
			say("stops the system")
		}
	case "spctl":
		if facts.HasWord(flags, "--master-disable", "--global-disable") {
			say("switches Gatekeeper off")
		}
	case "pmset":
		if facts.HasWord(rest, "sleepnow") {
			say("puts the machine to sleep")
		}
	case "wsl":
		if facts.HasWord(flags, "--unregister") {
			say("--unregister deletes a distribution")
		}
	}
}

// networkRule checks changes of firewalls, routes and interfaces.
func networkRule(x *scope, r *shell.Run, flags, rest []shell.Word) {
	line := facts.JoinArgs(r.Args())
	say := func(what string) { x.Report.Add("system", r.Head(), fmt.Sprintf("%s %s", r.Name(), what)) }
	switch r.Name() {
	case "iptables", "ip6tables":
		if facts.HasWord(flags, "-F", "--flush", "-X", "--delete-chain") || strings.Contains(line, "-P INPUT DROP") {
			say("changes the whole firewall")
		}
	case "nft":
		if facts.HasPhrase(line, "flush ruleset") || facts.HasPhrase(line, "delete table") {
			say("changes the whole firewall")
		}
	case "ufw":
		if facts.HasWord(rest, "disable", "reset") {
			say("switches the firewall off")
		}
	case "ip":
		if facts.HasPhrase(line, "link set") && strings.HasSuffix(line, " down") || facts.HasPhrase(line,
			"route flush") || facts.HasPhrase(line, "route del default") || facts.HasPhrase(line, "addr flush") {
			say("takes the network down")
		}
	case "ifconfig":
		if len(rest) > 1 && rest[len(rest)-1].Text == "down" {
			say("takes the network down")
		}
	case "nmcli":
		if facts.HasPhrase(line, "networking off") || facts.HasPhrase(line, "radio all off") {
			say("takes the network down")
		}
	}
}

func systemServices(x *scope, r *shell.Run, flags, rest []shell.Word) {
	say := func(what string) { x.Report.Add("system", r.Head(), r.Name()+" "+what) }
	if len(rest) == 0 {
		return
	}
	verb := rest[0].Text
	units := rest[1:]
	if r.Name() == "service" && len(rest) > 1 {
		verb, units = rest[1].Text, rest[:1]
	}
	switch verb {
	case "poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "soft-reboot", "isolate":
		say(verb + " stops the machine or most of it")
	case "kill-user", "terminate-user":
		say(verb + " ends somebody's sessions")
	case "stop", "disable", "mask", "kill":
		if facts.HasLong(flags, "--user") {
			return
		}
		for _, u := range units {
			n := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(u.Text, ".service"), ".socket"))
			if strings.HasPrefix(n, "systemd-") {
				say(verb + " of " + u.Text + ", which the machine needs")
				return
			}
			for _, v := range vitalUnits {
				if n == v {
					say(verb + " of " + u.Text + ", which the machine needs")
					return
				}
			}
		}
	}
}

// killRule checks kill -9 -1, which means every process there is; 1 is the first of
// all.
func killRule(x *scope, r *shell.Run, args []shell.Word) {
	signal := false
	for i, a := range args {
		t := a.Text
		if i == 0 && len(t) > 1 && t[0] == '-' {
			signal = true
			if t == "-l" || t == "-L" {
				return
			}
			continue
		}
		if t == "-1" && signal || t == "-1" && facts.HasWord(args, "--") || t == "1" && !(args[0].Text == "-s" ||
			args[0].Text == "-n" || args[0].Text == "-0") {
			x.Report.Add("system", r.Head(), "kill of every process, or of the first one")
			return
		}
	}
}

func packageRule(x *scope, r *shell.Run, flags, rest []shell.Word) {
	removes := facts.HasWord(rest, "remove", "purge", "erase", "autoremove", "del", "rm") || facts.HasShort(flags,
		'R', 'P') && r.Name() == "pacman" ||
		r.Name() == "rpm" && facts.HasShort(flags, 'e') || r.Name() == "dpkg" && (facts.HasLong(flags, "--purge",
		"--remove") || facts.HasWord(flags, "-P", "-r"))
	if !removes {
		return
	}
	for _, p := range rest {
		start, pattern := strings.CutSuffix(p.Text, "*")
		for _, v := range vitalPackages {
			if p.Text == v || pattern && strings.HasPrefix(v, start) || strings.HasPrefix(p.Text, "linux-image") {
				x.Report.Add("system", r.Head(),
					fmt.Sprintf("%s removes %s, which the machine needs", r.Name(), p.Text))
				return
			}
		}
	}
	if facts.HasLong(flags, "--force-all", "--nodeps", "--allow-remove-essential") || facts.HasShort(flags, 'd') &&
		r.Name() == "pacman" && strings.Contains(facts.JoinArgs(flags), "dd") {
		x.Report.Add("system", r.Head(), r.Name()+" removes packages other programs need")
	}
}
