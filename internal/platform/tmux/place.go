package tmux

import "strings"

// Place is where a program runs, as its environment tells it: the multiplexer
// or terminal and what that calls the spot. It is hearsay: the environment may
// be inherited, so tmux panes are checked by PaneOf before they are believed.
type Place struct {
	Kind    string // tmux, zellij, kitty, wezterm; "" when none is named
	Pane    string // %3, 3, 12, …
	Session string // the socket for tmux, the session's name for zellij
}

// Where names the place an environment speaks of. The innermost counts: a
// multiplexer inside of a terminal hides the terminal's own window.
func Where(getenv func(string) string) Place {
	if pane := getenv("TMUX_PANE"); getenv("TMUX") != "" && validID(pane, '%') {
		return Place{Kind: "tmux", Pane: pane, Session: FromEnv(getenv).Socket}
	}
	if pane := getenv("ZELLIJ_PANE_ID"); isNumber(pane) {
		return Place{Kind: "zellij", Pane: pane, Session: cleanName(getenv("ZELLIJ_SESSION_NAME"))}
	}
	if pane := getenv("WEZTERM_PANE"); isNumber(pane) {
		return Place{Kind: "wezterm", Pane: pane}
	}
	if window := getenv("KITTY_WINDOW_ID"); isNumber(window) {
		return Place{Kind: "kitty", Pane: window}
	}
	return Place{}
}

func isNumber(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}

// cleanName drops a name that could not be one.
func cleanName(s string) string {
	if len(s) > 100 || strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return ""
	}
	return s
}
