package statefiles

import (
	"fmt"
	"strings"
)

// Docs is docs/contributing/state-files.md.
func Docs() string {
	var b strings.Builder
	b.WriteString("# Files that hookmux keeps\n\n" +
		"Made from `internal/platform/statefiles/list.go`, which also has each file's format, owner and what happens " +
		"when it's missing or damaged (`HOOKMUX_UPDATE=1 go test ./internal/platform/statefiles`).\n\n" +
		"`*` matches part of a name, `**` everything below. Sealed files are signed with `consent.key`: hookmux " +
		"doesn't believe what something else wrote ([security.md](../security.md)). All files are yours, and only you " +
		"can write to them. `hookmux doctor` names files in these folders that aren't in this list or belong to someone " +
		"else. Your own settings are in the config folder: see [config.md](../config.md).\n\n" +
		"With the [system service](../system.md), the daemon's state and runtime folders are below " +
		"`/var/lib/hookmux-keeper`, but for databases, the log and what other programs of yours write.\n")
	for _, section := range []struct {
		place       Place
		title, text string
	}{
		{State, "State folder", "`$XDG_STATE_HOME/hookmux`, else `~/.local/state/hookmux`"},
		{Runtime, "Runtime folder",
			"`$HOOKMUX_RUNTIME_DIR`, else a folder for this user that may be gone after a reboot; " +
				"`hookmux status` names it"},
		{Data, "Data folder", "`$XDG_DATA_HOME/hookmux`, else `~/.local/share/hookmux`"},
		{Anywhere, "In any of them", "for a moment, or after something went wrong"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", section.title, upperFirst(section.text))
		b.WriteString("| File | What's in it | Kept |\n|---|---|---|\n")
		for i := range All {
			if f := &All[i]; f.Place == section.place {
				contents := f.Contents
				if strings.HasSuffix(f.Format, "sealed") {
					contents += " (sealed)"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Pattern, contents, f.Lifetime)
			}
		}
	}
	return b.String()
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
