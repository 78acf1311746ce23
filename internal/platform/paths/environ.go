package paths

import (
	"slices"
	"strings"
)

// What hooks, notices and TypeScript hooks run depends on the programs that PATH finds and
// on what their interpreters read from the environment. So they never get the environment of
// whatever happens to call or start the daemon, which a repository may have chosen, but the
// one in which the user installed hookmux.

// DefaultPath is used if the user's PATH isn't known.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin"

// personal lists the variables that describe a user's login. None of them makes a program
// run another one except PATH and SHELL, which are the user's own.
var personal = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "XDG_CURRENT_DESKTOP",
	"XDG_SESSION_ID", "XDG_SESSION_TYPE", RuntimeVariable,
}

// IsPersonal reports whether a variable describes a user's login.
func IsPersonal(name string) bool {
	return slices.Contains(personal, name) || strings.HasPrefix(name, "LC_")
}

// isHarmless reports whether a variable may come from whatever starts the daemon: it says
// who the user is and which language they read.
func isHarmless(name string) bool {
	return name == "USER" || name == "LOGNAME" || name == "LANG" || name == "TZ" || strings.HasPrefix(name, "LC_")
}

// recordedEnviron returns what an installation keeps of the user's environment, one line per
// variable.
func recordedEnviron(environ []string) string {
	var kept []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if IsPersonal(name) && name != RuntimeVariable && name != "XDG_SESSION_ID" && value != "" && !strings.ContainsAny(value, "\n\x00") {
			kept = append(kept, entry)
		}
	}
	return strings.Join(kept, "\n")
}

// DaemonEnviron returns the environment for a daemon and everything it starts. For a daemon
// of an installation it is that of the user who installed it, whatever starts the daemon;
// keep names further variables that pass.
func (d Dirs) DaemonEnviron(environ []string, keep ...string) []string {
	i := d.installation
	if i == nil {
		return environ
	}
	out := []string{"HOME=" + i.Home}
	has := map[string]bool{"HOME": true}
	add := func(entries []string, passes func(name string) bool) {
		for _, entry := range entries {
			if name, _, ok := strings.Cut(entry, "="); ok && !has[name] && passes(name) {
				has[name] = true
				out = append(out, entry)
			}
		}
	}
	if i.IsSealed() {
		add(strings.Split(i.environ, "\n"), IsPersonal)
		has["TZ"] = true // else an agent that starts a daemon would choose when its day ends
	}
	add(environ, func(name string) bool { return isHarmless(name) || slices.Contains(keep, name) })
	add([]string{"PATH=" + DefaultPath}, IsPersonal)
	if runtime, ok := userRuntime(); ok {
		add([]string{"XDG_RUNTIME_DIR=" + strings.TrimSuffix(runtime, "/hookmux")}, IsPersonal)
	}
	return out
}
