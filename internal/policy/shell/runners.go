package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// isFollowed reports whether the word at i may be the program of a command: one that is worth
// a look, with words of its own after it, and not a value of an option that says so itself.
func isFollowed(args []Word, i int) bool {
	if i+1 >= len(args) || args[i].Dynamic || !programs.IsFollowed(baseName(args[i].Text)) {
		return false
	}
	if i == 0 || args[i-1].Text == "--" {
		return true
	}
	before := args[i-1].Text
	return !strings.HasPrefix(before, "--") || strings.Contains(before, "=")
}

// startsFollowed reports whether a text begins with a program that is worth a look.
func startsFollowed(text string) bool {
	first, rest, more := strings.Cut(strings.TrimSpace(text), " ")
	return more && rest != "" && programs.IsFollowed(baseName(first))
}

// entersFirstProcess reports whether nsenter enters the first process, which is the machine's own
// if a container sees its processes.
func entersFirstProcess(args []Word) bool {
	for i, a := range args {
		if value, ok := optionValue(args, i, "-t"); ok && value == "1" || a.Text == "-t1" {
			return true
		}
		if value, ok := optionValue(args, i, "--target"); ok && value == "1" {
			return true
		}
	}
	return false
}

// withEntrypoint returns the words of a command in a container whose image starts a program
// of its own: docker run hashicorp/terraform destroy.
func withEntrypoint(image string, argv []Word) []Word {
	program := programs.EntrypointOf(image)
	if program == "" || baseName(argv[0].Text) == program || programs.IsShell(baseName(argv[0].Text)) {
		return argv
	}
	return append([]Word{{Text: program, Bare: program}}, argv...)
}

// indexOfAny returns the index of the first of the words of a list, which are separated by
// blanks; -1 if there is none.
func indexOfAny(args []Word, list string) int {
	for _, text := range strings.Fields(list) {
		if at := indexOf(args, text); at >= 0 {
			return at
		}
	}
	return -1
}

// withoutVersion returns a program's name from what a package runner is given: npm of npm@10,
// cli of @acme/cli@latest.
func withoutVersion(word Word) Word {
	text := word.Text
	if i := strings.LastIndexByte(text, '@'); i > 0 {
		text = text[:i]
	}
	if strings.HasPrefix(text, "@") {
		if _, tool, ok := strings.Cut(text, "/"); ok {
			text = tool
		}
	}
	word.Text, word.Bare = text, text
	return word
}

// isOwnShell reports whether a word means the shell that is in use.
func isOwnShell(text string) bool {
	switch text {
	case "$SHELL", "${SHELL}", "$BASH", "${BASH}", "$ZSH_NAME":
		return true
	}
	return false
}
