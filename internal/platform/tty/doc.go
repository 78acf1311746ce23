// Package tty writes escape sequences to the user's terminals and brings their windows
// forward, with the commands of terminals and multiplexers other than tmux.
package tty
