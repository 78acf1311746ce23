package statefiles

import (
	"fmt"
	"strings"
)

// Docs is docs/contributing/state-files.md.
func Docs() string {
	var b strings.Builder
	b.WriteString("# Files that hookmux keeps\n\n" +
		"Made from internal/platform/statefiles (`HOOKMUX_UPDATE=1 go test ./internal/platform/statefiles`).\n\n" +
		"A `*` stands for any part of a name, `**` for whatever is below. \"Sealed\" files carry a code made with " +
		"`consent.key`: what something else wrote is not believed ([security.md](../security.md)). All files are the " +
		"user's own, and others can write none of them. `hookmux doctor` names what is in these folders and not in " +
		"this list, and files that belong to somebody else.\n\n" +
		"What you set yourself is in the config folder, and not listed here: see [config.md](../config.md).\n")
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
		b.WriteString("| File | What it holds | Format | Kept | Missing | Damaged | Written by |\n" +
			"|---|---|---|---|---|---|---|\n")
		for i := range All {
			if f := &All[i]; f.Place == section.place {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | `%s` |\n", f.Pattern, f.Holds, f.Format, f.Lifetime,
					f.Missing, f.Damaged, f.Owner)
			}
		}
	}
	return b.String()
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
