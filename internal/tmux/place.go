package tmux

import (
	"path/filepath"
	"strings"
)

// Place is where a program runs, according to its environment: the multiplexer or terminal and
// its name for the spot. It isn't proof: the environment may be inherited, so tmux panes are
// checked by PaneOf before they are believed.
type Place struct {
	Kind string // tmux, zellij, kitty, wezterm, iterm2; "" when none is named
	Pane string // %3, 3, 12, …
	// Session is the socket for tmux and wezterm, the session's name for zellij, the
	// address for commands of kitty.
	Session string
}

// Where returns the place an environment names. The innermost is used: a multiplexer inside a
// terminal hides the terminal's own window.
func Where(getenv func(string) string) Place {
	if pane := getenv("TMUX_PANE"); getenv("TMUX") != "" && validID(pane, '%') {
		return Place{Kind: "tmux", Pane: pane, Session: FromEnv(getenv).Socket}
	}
	if pane := getenv("ZELLIJ_PANE_ID"); isNumber(pane) {
		return Place{Kind: "zellij", Pane: pane, Session: cleanName(getenv("ZELLIJ_SESSION_NAME"))}
	}
	if pane := getenv("WEZTERM_PANE"); isNumber(pane) {
		socket := cleanName(getenv("WEZTERM_UNIX_SOCKET"))
		if !filepath.IsAbs(socket) {
			socket = ""
		}
		return Place{Kind: "wezterm", Pane: pane, Session: socket}
	}
	if window := getenv("KITTY_WINDOW_ID"); isNumber(window) {
		address := cleanName(getenv("KITTY_LISTEN_ON"))
		if !strings.HasPrefix(address, "unix:") { // others go over the network
			address = ""
		}
		return Place{Kind: "kitty", Pane: window, Session: address}
	}
	if window, _, ok := strings.Cut(getenv("ITERM_SESSION_ID"), ":"); ok && isSpot(window) {
		return Place{Kind: "iterm2", Pane: window}
	}
	return Place{}
}

// isSpot reports whether a text is like w0t0p0.
func isSpot(s string) bool {
	return len(s) >= 6 && len(s) <= 20 && s[0] == 'w' && strings.Trim(s, "wtp0123456789") == ""
}

func isNumber(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}

// cleanName drops a name that could not be one.
func cleanName(s string) string {
	isControl := func(r rune) bool { return r < 0x20 || r == 0x7f }
	if len(s) > 100 || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, isControl) {
		return ""
	}
	return s
}
