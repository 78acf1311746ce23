package cmdutil

// SessionNames is in the help of every command that takes a session.
const SessionNames = `SESSION is an ID, the beginning of one, part of a title, or a tmux pane (%3).`
