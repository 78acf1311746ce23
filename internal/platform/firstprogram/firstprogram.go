// Package firstprogram tells whether a process of hookmux ran another program before it
// became hookmux: a script that somebody starts and that ends with `exec hookmux approve …`
// looks in the table of processes exactly as if its shell had run hookmux.
//
// Linux counts how much a process has read, also for starting a program, and goes on
// counting when it becomes another one. A process that begins with hookmux has read what
// starting hookmux takes, to the byte; whatever ran before it had to be read as well. Each
// hookmux reads its own count before it does anything else and says it in the name of one
// of its threads, which only the program that runs can give, and which does not outlive it.
//
// go.mod switches off what the Go runtime reads of control groups when it starts
// (containermaxprocs), because that is not the same for every process.
//
// Contract: nothing is asked of the environment or of arguments. What cannot be read is an
// error, never a no.
package firstprogram

import "errors"

// ErrUnknown says that nothing is known about what a process ran before.
var ErrUnknown = errors.New("it is not known what this process ran before")

// slack is how much more than needed a process may have read: shells read a byte or so
// between making a process and starting a program in it. The shortest script that runs
// hookmux is longer, and is read twice.
const slack = 8

// threadPrefix is what the name of the thread that tells the count begins with; the kernel
// keeps 15 characters.
const threadPrefix = "read "
