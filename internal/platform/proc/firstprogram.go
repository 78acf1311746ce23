package proc

import "errors"

// ErrFirstUnknown is the error of RanBefore if the system can't answer.
//
// A script that you start and that ends with `exec hookmux approve …` looks in the process
// table exactly as if your shell had run hookmux. Linux counts how many bytes a process has
// read, including what it took to start a program, and keeps counting when the process
// becomes another program. A process that begins as hookmux has read what starting hookmux
// takes, to the byte; a program that ran before it had to be read as well. hookmux therefore
// reads its own count first of all (NoteFirstProgram) and publishes it in the name of one of
// its threads, which only the running program can set and which ends with it.
//
// go.mod switches off what the Go runtime reads about control groups when it starts
// (containermaxprocs), because that differs between processes. The environment and the
// arguments are never asked, and what can't be read is an error, never a no.
var ErrFirstUnknown = errors.New("it is not known what this process ran before")

// slack is how much more than needed a process may have read: shells read a byte or so
// between making a process and starting a program in it. The shortest script that runs
// hookmux is longer, and is read twice.
const slack = 8

// threadPrefix begins the name of the thread that publishes the count; the kernel keeps 15
// characters.
const threadPrefix = "read "
