// Package tty writes escape sequences to the user's terminals and brings their windows
// forward, with the commands that terminals and multiplexers other than tmux have for it.
package tty
