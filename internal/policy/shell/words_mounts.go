package shell

import (
	"strings"
)

// Mount is a directory of this machine that a container sees under another
// name. A path below Inside is really a path below Host.
type Mount struct {
	Host   Word
	Inside string
}

// mountsOf reads the bind mounts and the working directory from the options of docker run and
// similar commands; args are the words after the verb.
func mountsOf(args []Word, end int) (mounts []Mount, workdir string) {
	for i := 0; i < end && i < len(args) && len(mounts) < maxMounts; i++ {
		t := args[i].Text
		next := Word{}
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case t == "-v" || t == "--volume":
			mounts = appendVolume(mounts, next)
			i++
		case strings.HasPrefix(t, "--volume="):
			mounts = appendVolume(mounts, cutWord(args[i], len("--volume=")))
		case strings.HasPrefix(t, "-v") && len(t) > 2 && t[2] != '-':
			mounts = appendVolume(mounts, cutWord(args[i], 2))
		case t == "--mount":
			mounts = appendMount(mounts, next)
			i++
		case strings.HasPrefix(t, "--mount="):
			mounts = appendMount(mounts, cutWord(args[i], len("--mount=")))
		case t == "-w" || t == "--workdir":
			workdir = next.Text
			i++
		case strings.HasPrefix(t, "--workdir="):
			workdir = t[len("--workdir="):]
		}
	}
	return mounts, workdir
}

// cutWord returns w without its first n bytes.
func cutWord(w Word, n int) Word {
	w.Text = w.Text[n:]
	if n <= len(w.Bare) {
		w.Bare = w.Bare[n:]
	}
	// Docker's own option parsing doesn't expand ~ in a glued value, but home is what is meant,
	// and zsh expands it.
	w.Tilde = strings.HasPrefix(w.Text, "~")
	return w
}

// appendVolume reads host:inside[:options]. A host part without a slash is the name of a volume,
// which isn't a place on this machine.
func appendVolume(list []Mount, w Word) []Mount {
	host, rest, ok := strings.Cut(w.Text, ":")
	if !ok || !strings.ContainsAny(host, "/~.$") {
		return list
	}
	inside, _, _ := strings.Cut(rest, ":")
	return appendBind(list, w, host, inside)
}

// appendMount reads type=bind,source=host,target=inside.
func appendMount(list []Mount, w Word) []Mount {
	host, inside, bind := "", "", false
	for _, kv := range strings.Split(w.Text, ",") {
		k, v, _ := strings.Cut(kv, "=")
		switch k {
		case "type":
			bind = v == "bind"
		case "source", "src":
			host = v
		case "target", "dst", "destination":
			inside = v
		}
	}
	if !bind {
		return list
	}
	return appendBind(list, w, host, inside)
}

func appendBind(list []Mount, w Word, host, inside string) []Mount {
	if host == "" || !strings.HasPrefix(inside, "/") {
		return list
	}
	h := Word{Text: host, Bare: host, Tilde: strings.HasPrefix(host, "~"), Dynamic: w.Dynamic &&
		strings.ContainsAny(host,
			"$`"), Vars: w.Vars}
	return append(list[:len(list):len(list)], Mount{Host: h, Inside: strings.TrimRight(inside, "/")})
}

// maxMounts limits how many mounts of one container are remembered.
const maxMounts = 64
