package guard

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// splitFlags divides arguments into options and operands; "--" ends options.
func splitFlags(args []shell.Word) (flags, rest []shell.Word) {
	for i, a := range args {
		if a.Text == "--" {
			return flags, append(rest, args[i+1:]...)
		}
		if len(a.Text) > 1 && a.Text[0] == '-' {
			flags = append(flags, a)
		} else {
			rest = append(rest, a)
		}
	}
	return flags, rest
}

// hasShort reports whether one of the letters stands in a short option cluster.
func hasShort(flags []shell.Word, letters ...byte) bool {
	for _, f := range flags {
		if len(f.Text) < 2 || f.Text[1] == '-' {
			continue
		}
		for _, l := range letters {
			if strings.IndexByte(f.Text[1:], l) >= 0 {
				return true
			}
		}
	}
	return false
}

// hasLong reports whether one of the long options is given, with or without
// a value.
func hasLong(flags []shell.Word, names ...string) bool {
	for _, f := range flags {
		for _, n := range names {
			if f.Text == n || strings.HasPrefix(f.Text, n+"=") {
				return true
			}
		}
	}
	return false
}

func has(args []shell.Word, texts ...string) bool {
	for _, a := range args {
		for _, t := range texts {
			if a.Text == t {
				return true
			}
		}
	}
	return false
}

func rmRule(x *env, r *shell.Run) {
	flags, targets := splitFlags(r.Args())
	recursive := hasShort(flags, 'r', 'R') || hasLong(flags, "--recursive", "--no-preserve-root")
	switch r.Name() {
	case "rimraf", "del-cli", "trash", "trash-put", "rmtrash":
		recursive = true
	}
	for _, w := range targets {
		if recursive {
			x.deletes(r, w, "deletes")
			x.listed(r, w)
			x.fromList(r, w)
			continue
		}
		p := x.place(w, r)
		if !p.known || r.Contained {
			continue
		}
		switch why := x.broad(p); {
		case p.all && why != "" && why != "the whole project":
			x.f.add("rm-broad", r.String(), fmt.Sprintf("deletes every file in %s", why))
		case why == "a system directory" && !below(p.path, "/var/log") && !below(p.path, "/opt") && !below(p.path, "/usr/local"):
			x.f.add("rm-system", r.String(), fmt.Sprintf("deletes %s in a system directory", p.text))
		}
	}
}

// deletes judges one target of a recursive delete.
func (x *env) deletes(r *shell.Run, w shell.Word, verb string) {
	p := x.place(w, r)
	if p.known {
		why := x.broad(p)
		if r.Contained {
			if why == "the whole file system" || why == "a top-level directory" {
				x.f.add("rm-broad", r.String(), fmt.Sprintf("%s %s in a container", verb, why))
			}
			return
		}
		switch {
		case why != "":
			x.f.add("rm-broad", r.String(), fmt.Sprintf("%s %s (%s)", verb, p.text, why))
		case x.outside(p) && !buildDir(path.Base(p.path)):
			x.f.add("rm-outside", r.String(), fmt.Sprintf("%s %s, which is outside the project", verb, p.text))
		}
		return
	}
	if strings.TrimSuffix(w.Text, "/") == ".git" || strings.HasSuffix(strings.TrimSuffix(w.Text, "/"), "/.git") {
		x.f.add("rm-broad", r.String(), fmt.Sprintf("%s %s (a repository's history)", verb, w.Text))
		return
	}
	// The directory is not known: patterns over all of it are a gamble.
	if !w.Dynamic && (p.all || strings.HasPrefix(w.Text, "..")) {
		x.f.add("rm-dynamic", r.String(), fmt.Sprintf("%s %s in a directory that is not known beforehand", verb, w.Text))
		return
	}
	// What an unset variable would make of it.
	if b := x.bare(w, r); w.Dynamic && b.known && b.text != w.Text {
		if why := x.broad(b); why != "" && why != "the repository's history" && !x.commonSub(b.path) {
			x.f.add("rm-dynamic", r.String(), fmt.Sprintf("%s %s, which is %s (%s) if the variable is empty", verb, w.Text, b.path, why))
		}
	}
}

// listed: ls / | xargs rm -rf deletes what the listing names.
func (x *env) listed(r *shell.Run, w shell.Word) {
	if !w.Dynamic || r.Contained {
		return
	}
	for i := w.From.Lo; i < w.From.Hi && i < len(x.script.Runs); i++ {
		from := &x.script.Runs[i]
		if from.Name() != "ls" {
			continue
		}
		_, dirs := splitFlags(from.Args())
		for _, d := range dirs {
			p := x.place(d, from)
			if why := x.broad(p); p.known && why != "" && why != "the whole project" {
				x.f.add("rm-broad", r.String(), fmt.Sprintf("deletes everything listed in %s (%s)", d.Text, why))
			}
		}
	}
}

// commonSub are names that build scripts join to a variable all the time:
// "$OUT/bin" is no sign of danger, "$ROOT/etc" is.
func (x *env) commonSub(p string) bool {
	if p == "/" || strings.Count(p, "/") != 1 {
		return strings.Count(p, "/") > 1
	}
	for _, d := range systemDirs {
		if p == d {
			switch path.Base(p) {
			case "bin", "lib", "lib64", "sbin", "run", "dev", "cores", "private":
				return true
			}
			return false
		}
	}
	return p != "/home" && p != "/Users" && p != x.home
}

var findTests = []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-newer", "-size", "-empty",
	"-ctime", "-atime", "-user", "-perm", "-cmin", "-amin", "-xtype", "-inum", "-links", "-samefile", "-group", "-nouser", "-lname"}

func findRule(x *env, r *shell.Run) {
	args := r.Args()
	if !findDeletes(x, r, args) || r.Contained {
		return
	}
	var starts []shell.Word
	if strings.HasPrefix(r.Name(), "fd") {
		_, rest := splitFlags(args)
		if len(rest) > 1 {
			starts = rest[1:]
		}
	} else {
		for _, a := range args {
			if a.Text == "" || strings.HasPrefix(a.Text, "-") && len(a.Text) > 2 || a.Text == "(" || a.Text == "!" {
				break
			}
			if a.Text[0] != '-' {
				starts = append(starts, a)
			}
		}
	}
	if len(starts) == 0 {
		starts = []shell.Word{{Text: ".", Bare: "."}}
	}
	filtered := has(args, findTests...) || strings.HasPrefix(r.Name(), "fd")
	for i, a := range args {
		if strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "name") && i+1 < len(args) {
			switch args[i+1].Text {
			case "*", "*.*":
				filtered = false
			case ".git":
				x.f.add("find-delete", r.String(), "deletes repositories' histories")
			}
		}
	}
	for _, s := range starts {
		p := x.place(s, r)
		if !p.known {
			if b := x.bare(s, r); s.Dynamic && b.known && b.path == "/" {
				x.f.add("find-delete", r.String(), fmt.Sprintf("deletes below %s, which is the root if the variable is empty", s.Text))
			}
			continue
		}
		why := x.broad(p)
		switch {
		case why == "the whole project" && filtered, why == "the repository's history" && filtered:
		case why != "":
			x.f.add("find-delete", r.String(), fmt.Sprintf("deletes what it finds in %s (%s)", p.text, why))
		case x.outside(p):
			x.f.add("find-delete", r.String(), fmt.Sprintf("deletes what it finds in %s, outside the project", p.text))
		}
	}
}

// findDeletes reports whether what find finds is deleted.
func findDeletes(x *env, r *shell.Run, args []shell.Word) bool {
	if has(args, "-delete") {
		return true
	}
	for i, a := range args {
		switch a.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			for _, b := range args[i+1:] {
				if b.Text == ";" {
					break
				}
				for _, word := range strings.FieldsFunc(b.Text, func(r rune) bool { return r == ' ' || r == ';' || r == '\n' || r == '"' || r == '\'' }) {
					switch path.Base(word) {
					case "rm", "shred", "unlink", "rimraf", "grm":
						return true
					}
				}
			}
		}
	}
	for j := r.To.Lo; j < r.To.Hi && j < len(x.script.Runs); j++ {
		if n := &x.script.Runs[j]; n.Name() == "rm" {
			return true
		}
	}
	return false
}

func permissionRule(x *env, r *shell.Run) {
	flags, rest := splitFlags(r.Args())
	if len(rest) < 2 || r.Contained {
		return
	}
	recursive := hasShort(flags, 'R') || hasLong(flags, "--recursive")
	mode := rest[0].Text
	open := r.Name() == "chmod" && (strings.HasSuffix(mode, "777") || mode == "a+rwx" || mode == "+rwx" || mode == "ugo+rwx" || mode == "a=rwx" || mode == "o+w" || mode == "a+w" || strings.HasSuffix(mode, "666"))
	closed := r.Name() == "chmod" && (strings.Trim(mode, "0") == "" || mode == "a-rwx" || mode == "-rwx" || mode == "a-x" || mode == "-x")
	for _, w := range rest[1:] {
		p := x.place(w, r)
		if !p.known {
			if b := x.bare(w, r); w.Dynamic && recursive && b.known && b.path == "/" {
				x.f.add("permissions", r.String(), fmt.Sprintf("changes everything below %s, which is the root if the variable is empty", w.Text))
			}
			continue
		}
		why := x.broad(p)
		inProject := why == "the whole project" || why == "the repository's history"
		switch {
		case why == "":
		case recursive && !inProject, recursive && (open || closed):
			x.f.add("permissions", r.String(), fmt.Sprintf("changes permissions or owners of all of %s (%s)", p.text, why))
		case !inProject && (open || closed):
			x.f.add("permissions", r.String(), fmt.Sprintf("opens or closes %s (%s) to everyone", p.text, why))
		}
	}
}

// vital files: losing their contents locks people out or loses a repository.
func (x *env) vital(p place) string {
	if !p.known {
		return ""
	}
	t := p.path
	switch t {
	case "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/fstab", "/etc/ssh/sshd_config", "/etc/crypttab", "/etc/gshadow", "/etc/hosts", "/etc/resolv.conf":
		return "a vital system file"
	}
	if under(t, "/boot") || under(t, "/etc/sudoers.d") || under(t, "/etc/pam.d") {
		return "a vital system file"
	}
	if path.Dir(t) == x.home {
		switch path.Base(t) {
		case ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".gitconfig", ".bash_history", ".zsh_history":
			return "a personal start file"
		}
	}
	if strings.HasPrefix(t, x.home+"/.ssh/") {
		return "a personal ssh file"
	}
	if below(t, x.project) && strings.Contains(t, "/.git/") && !strings.Contains(t, "/.git/hooks/") && !strings.Contains(t, "/.git/info/") && !strings.HasSuffix(t, "_EDITMSG") {
		return "the repository's own data"
	}
	return ""
}

func isDevice(p place) bool {
	t := p.text
	if p.known {
		t = p.path
	}
	if !strings.HasPrefix(t, "/dev/") {
		return false
	}
	for _, d := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk", "md", "dm-", "mapper/", "loop", "mem", "kmem", "port", "block/", "zd", "nbd", "sr", "fd0"} {
		if strings.HasPrefix(t[len("/dev/"):], d) {
			return true
		}
	}
	return false
}

// redirectRule: `> file` empties the file before anything runs.
func redirectRule(x *env, r *shell.Run) {
	for _, rd := range r.Redirects {
		if !rd.Writes() || r.Contained {
			continue
		}
		p := x.place(rd.Target, r)
		if isDevice(p) {
			x.f.add("disk", r.String(), fmt.Sprintf("writes straight to the device %s", rd.Target.Text))
			continue
		}
		if strings.HasPrefix(p.path, "/proc/sysrq-trigger") {
			x.f.add("system", r.String(), "triggers a kernel emergency function")
			continue
		}
		if why := x.vital(p); why != "" && !strings.Contains(rd.Op, ">>") {
			x.f.add("overwrite", r.String(), fmt.Sprintf("overwrites %s (%s)", rd.Target.Text, why))
		}
	}
}

func overwriteRule(x *env, r *shell.Run) {
	flags, rest := splitFlags(r.Args())
	if r.Contained || len(rest) == 0 {
		return
	}
	name := strings.TrimPrefix(r.Name(), "g")
	last := rest[len(rest)-1]
	dest := x.place(last, r)
	switch name {
	case "mv":
		for _, w := range rest[:len(rest)-1] {
			p := x.place(w, r)
			if dest.path == "/dev/null" {
				x.f.add("overwrite", r.String(), fmt.Sprintf("moves %s to /dev/null", w.Text))
				continue
			}
			if why := x.broad(p); p.known && why != "" && !(p.all && why == "the whole project") {
				x.f.add("overwrite", r.String(), fmt.Sprintf("moves %s away (%s)", w.Text, why))
			}
		}
	case "rsync":
		if hasLong(flags, "--delete", "--delete-before", "--delete-after", "--delete-excluded", "--del", "--remove-source-files") && !strings.Contains(last.Text, ":") && !hasShort(flags, 'n') && !hasLong(flags, "--dry-run") {
			if why := x.broad(dest); dest.known && why != "" {
				x.f.add("rm-broad", r.String(), fmt.Sprintf("mirrors over %s and deletes what is not in the source (%s)", last.Text, why))
			}
		}
		return
	}
	targets := rest
	switch name {
	case "mv", "cp", "ln", "install":
		targets = rest[len(rest)-1:]
		if name == "ln" && !hasShort(flags, 'f') {
			return
		}
	case "tee":
		if hasShort(flags, 'a') || hasLong(flags, "--append") {
			targets = nil
			for _, w := range rest {
				if isDevice(x.place(w, r)) {
					targets = append(targets, w)
				}
			}
		}
	}
	for _, w := range targets {
		p := x.place(w, r)
		if isDevice(p) {
			x.f.add("disk", r.String(), fmt.Sprintf("writes straight to the device %s", w.Text))
		} else if why := x.vital(p); why != "" {
			x.f.add("overwrite", r.String(), fmt.Sprintf("overwrites %s (%s)", w.Text, why))
		} else if name == "truncate" && p.known && x.broad(p) == "a system directory" {
			x.f.add("overwrite", r.String(), fmt.Sprintf("empties %s in a system directory", w.Text))
		}
	}
}
