package agent

import "strings"

// Arity is how many arguments a flag of an agent's program takes.
type Arity int

// What a flag may take.
const (
	TakesNone  Arity = iota
	TakesOne         // --model NAME
	TakesMaybe       // --resume [ID]
	TakesMany        // --add-dir DIR…
)

// Arities reads a list of flags as the catalogue writes it: "--model" takes one
// argument, "--resume?" one or none, "--add-dir..." as many as follow. A flag
// that is not listed takes none.
func Arities(valueFlags []string) map[string]Arity {
	takes := make(map[string]Arity, len(valueFlags))
	for _, flag := range valueFlags {
		if name, ok := strings.CutSuffix(flag, "..."); ok {
			takes[name] = TakesMany
		} else if name, ok := strings.CutSuffix(flag, "?"); ok {
			takes[name] = TakesMaybe
		} else {
			takes[flag] = TakesOne
		}
	}
	return takes
}
