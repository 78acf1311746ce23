package cmdutil

// SessionNames is said by every command that takes a session.
const SessionNames = `SESSION is an id, the beginning of one, a title or a tmux pane (%3).`
