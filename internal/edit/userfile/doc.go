// Package userfile reads and writes files that belong to someone else. Reading is bounded and
// never waits at a pipe. Writing happens under a lock and replaces the file as a whole; links
// are followed, owner and mode are kept.
package userfile
