// Package setup installs and removes the system service, as root: programs, account, unit, and the
// state that moves between a user's home and the keeper.
//
// Files in a home are read and written by a child that runs as that user, so that no link of
// theirs leads root anywhere.
package setup
