package programs

import "strings"

// Trait is a property of a program that needs no details.
type Trait uint64

// Traits of programs.
const (
	Shell           Trait = 1 << iota // runs shell text
	StartsAShell                      // starts a shell if no command is given
	Followed                          // looked for after a program that isn't known
	Plain                             // its words are never a command
	Statements                        // reads statements of which it matters what they are
	GivesNames                        // gives other names to programs (cp, ln, hash)
	NoScripts                         // an interpreter whose first file is data
	Editor                            // shows what it may change
	NoFiles                           // its words aren't files
	Mentions                          // an address among its words is only text
	TalksAnyway                       // NoFiles, but its words may be addresses
	SetsVariables                     // its words set variables for what comes later
	Poll                              // only looks how something is
	Quiet                             // changes nothing and prints nothing
	Targets                           // every operand is something to do (make)
	Fetches                           // prints or saves what it gets from the network
	Unpacks                           // prints what was hidden when asked to undo it
	Deletes                           // loses the files that it is given
	RunsFiles                         // runs or installs the files that it is given
	RunsFirstFile                     // a wrapper that runs a file among its arguments
	ShellHook                         // start files usually load its output
	Sends                             // sends what it is given to other machines
	RemovesPackages                   // takes packages off the machine
	ProcessTool                       // stops, limits or takes over processes by number
	NameTool                          // the same by an exact name
	PlainTool                         // runs nothing other than itself, whatever its arguments
	Recursive                         // deletes folders with all that is in them, unasked
	WholeOptions                      // rejects long options that are cut short (--forc)
	ClaudeShell                       // what follows is how Claude Code's rules see it
	ClaudeReads
	ClaudeWrites
	ClaudeHarmless
	ClaudeXargs
	ClaudeEvaluates
)

var traitNames = map[string]Trait{
	"shell": Shell, "starts-shell": StartsAShell, "followed": Followed, "plain": Plain, "statements": Statements,
	"renames": GivesNames, "no-scripts": NoScripts, "editor": Editor, "no-files": NoFiles, "mentions": Mentions,
	"talks-anyway": TalksAnyway, "sets-variables": SetsVariables, "poll": Poll, "quiet": Quiet, "targets": Targets,
	"fetches": Fetches, "unpacks": Unpacks, "deletes": Deletes, "runs-files": RunsFiles,
	"runs-first-file": RunsFirstFile, "shell-hook": ShellHook, "sends": Sends, "removes-packages": RemovesPackages,
	"process-tool": ProcessTool, "name-tool": NameTool, "plain-tool": PlainTool,
	"recursive": Recursive, "whole-options": WholeOptions, "claude-shell": ClaudeShell,
	"claude-reads": ClaudeReads, "claude-writes": ClaudeWrites, "claude-harmless": ClaudeHarmless,
	"claude-xargs": ClaudeXargs, "claude-evaluates": ClaudeEvaluates,
}

// Effect is what a subcommand does beyond the files it names.
type Effect string

// Effects of subcommands.
const (
	LosesData    Effect = "deletes"       // stored data, or something in an account, for good
	Disables     Effect = "disables"      // stops a machine, or takes away what it or its owner needs
	Deploys      Effect = "deploys"       // changes what runs for others
	Grants       Effect = "grants"        // gives someone rights or access
	Publishes    Effect = "publishes"     // shows something to others: packages, messages, payments
	Opens        Effect = "opens"         // lets others connect to this machine
	PrintsSecret Effect = "prints-secret" // a stored secret
	MayDelete    Effect = "may-delete"    // by its name alone: of a program that isn't described
)

// Effects lists them.
var Effects = []Effect{LosesData, Disables, Deploys, Grants, Publishes, Opens, PrintsSecret, MayDelete}

func joinEffects() string {
	out := make([]string, len(Effects))
	for i, e := range Effects {
		out[i] = string(e)
	}
	return strings.Join(out, ", ")
}

// SecretForms are the ways an option can have a secret in it.
var SecretForms = []string{
	"next",   // -p VALUE or --opt=VALUE
	"glued",  // -pVALUE
	"both",   // -p VALUE or -pVALUE
	"pair",   // -u USER:VALUE, with SecretOption.Between
	"pass",   // -passin pass:VALUE
	"second", // -nb USER VALUE
	"third",  // -b FILE USER VALUE
	"piped",  // echo VALUE | tool --opt
	"plain",  // the first word after it that is neither an option nor a number
	"equal",  // --opt=NAME=VALUE or --opt NAME=VALUE
}
