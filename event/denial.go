package event

import "strings"

// The joints of a denial: what is written with them is shortened by them.
const (
	denialStart  = "hookmux: "
	denialMiddle = " stopped this: "
	whereStart   = " ["
	whereEnd     = "]"
)

// FromHookmux returns a text that says it comes from hookmux, once: a [Denial] does so
// already.
func FromHookmux(text string) string { return denialStart + strings.TrimPrefix(text, denialStart) }

// Denial returns what a model and a person read when something was stopped: who
// stopped it, why, and how it can be allowed. It is one line.
func Denial(who, reason, allow string) string {
	line := denialStart + OneLine(who) + denialMiddle + strings.TrimRight(OneLine(reason), ".") + "."
	if allow != "" {
		line += " " + OneLine(strings.TrimRight(allow, ".")) + "."
	}
	return line
}

// RuleDenial returns the [Denial] of a guard's rule: it also says where the rule found what
// it stops. How a person lets it pass is no business of the model that reads this:
// see [AllowCommands].
func RuleDenial(rule, reason, where string) string {
	if strings.Contains(reason, where) {
		return Denial(rule, reason, "")
	}
	return Denial(rule, reason+whereStart+where+whereEnd, "")
}

// AllowCommands returns the commands by which a person lets pass what a rule stops.
func AllowCommands(rule string) string {
	command := "hookmux guard exception add " + rule
	return "allow once: " + command + " --once; always: " + command
}

// ShortDenial returns a [Denial] for people who look at many: who stopped it and
// why. Any other text stays as it is: records hold the text alone, and nothing is decided by it.
func ShortDenial(text string) string {
	rest, started := strings.CutPrefix(text, denialStart)
	who, why, ok := strings.Cut(rest, denialMiddle)
	if !started || !ok {
		return text
	}
	why = strings.TrimSuffix(why, ".")
	if i := strings.LastIndex(why, whereStart); i >= 0 && strings.HasSuffix(why, whereEnd) {
		why = why[:i]
	}
	return who + ": " + strings.TrimSuffix(why, ".")
}
