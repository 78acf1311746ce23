// Package attempts holds the one table of what has been tried against hookmux's
// promises, and of how each attempt ends. Tests run every row where it can be
// run, and internal/authority/attempts/attempts.md lists them from here. The list only grows.
package attempts

import "slices"

// Class names the goal of an attempt.
type Class int

const (
	// Person attempts decide something in a person's place.
	Person Class = iota
	// Unavailable attempts have nobody look at a call.
	Unavailable
	// Files attempts change what hookmux believes by changing its files.
	Files
	// Unreadable attempts say a call in a way that guards cannot read.
	Unreadable
	// Guarded attempts hide from a guard what a command does.
	Guarded
	// Reading attempts look at other sessions.
	Reading
)

// Title returns the class as a heading.
func (c Class) Title() string {
	return map[Class]string{
		Person: "To pass for a person", Unavailable: "To have nobody look", Files: "To change what hookmux believes",
		Unreadable: "To say it unreadably", Guarded: "To hide what a command does", Reading: "To read what others do",
	}[c]
}

// Classes lists all classes in the order of the documentation.
func Classes() []Class { return []Class{Person, Unavailable, Files, Unreadable, Guarded, Reading} }

// Place is where an attempt is run.
type Place int

const (
	// Facts are recorded facts about processes and terminals, or calls that are
	// evaluated without a process of their own.
	Facts Place = 1 << iota
	// Process is a real process on the machine that tests, with the programs as
	// they are shipped.
	Process
	// Agent is the shell tool of a real agent.
	Agent
	// Nowhere is an attempt that would harm the machine it is tried on, or that
	// needs what tests do not have.
	Nowhere Place = 0
)

// End is how an attempt ends.
type End int

const (
	// Refused: the daemon refuses the call, or the guard the command.
	Refused End = iota
	// PIN: the user's PIN is asked for, and it is refused where there is none.
	PIN
	// Code: a person at the trusted terminal has to type a code.
	Code
	// Asked: the call is put to the agent's own prompt, or refused where it has
	// none.
	Asked
	// Hidden: the answer has nothing of other sessions.
	Hidden
	// Passes: it is not refused; Why says why.
	Passes
)

// Words returns how the documentation says an end.
func (e End) Words() string {
	return map[End]string{
		Refused: "refused", PIN: "PIN, or refused", Code: "code", Asked: "asked or refused",
		Hidden: "shows nothing of others",
		Passes: "not refused",
	}[e]
}

// Attempt is one row.
type Attempt struct {
	// Name is unique. Tests know the row by it.
	Name  string
	Class Class
	// Try says what is tried; empty where the name does.
	Try string
	On  Place
	End End
	// Why says why it is not refused.
	Why string

	// Command is run by a shell. In attempts to pass for a person DO stands
	// for the command that decides.
	Command string
	// Needs names the program that Command needs beside a shell.
	Needs string
	// Raw says that Command itself sends what stands in the variable REQUEST to
	// the daemon, one line, and prints the answer.
	Raw bool
	// Guard is the rule that refuses Command, for attempts on guards.
	Guard string
	// Test runs the attempt where the table alone cannot: a package below the
	// module, a dot, and the name of the test.
	Test string
}

// Text returns what is tried, in words.
func (a *Attempt) Text() string {
	if a.Try != "" {
		return a.Try
	}
	return a.Name
}

// All gives the whole table.
func All() []Attempt {
	return slices.Concat(people, processes, byOtherPrograms, buttons, unavailable, files, unreadable, guarded, reading, remaining)
}

// Of gives the rows of a class that are run at a place.
func Of(class Class, on Place) []Attempt {
	return slices.DeleteFunc(All(), func(a Attempt) bool { return a.Class != class || a.On&on == 0 })
}
