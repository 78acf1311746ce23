// Package window follows an agent's own dialog: whether one is open, by the small state
// file that some agents write, and how to answer it by keys in its tmux pane.
package window
