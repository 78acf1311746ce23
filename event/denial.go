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

// Denial returns the line that you and the model read when something was blocked:
// what blocked it, why, and how it can be allowed.
func Denial(who, reason, allow string) string {
	line := denialStart + OneLine(who) + denialMiddle + strings.TrimRight(OneLine(reason), ".") + "."
	if allow != "" {
		line += " " + OneLine(strings.TrimRight(allow, ".")) + "."
	}
	return line
}

// RuleDenial returns the [Denial] of a guard's rule, which also says where the rule
// matched. The model isn't told how you could allow it: see [AllowCommands].
func RuleDenial(rule, reason, where string) string {
	if strings.Contains(reason, where) {
		return Denial(rule, reason, "")
	}
	return Denial(rule, reason+whereStart+where+whereEnd, "")
}

// AllowOnce returns the command that allows one call that a rule blocks.
func AllowOnce(rule string) string { return allowAlways(rule) + " --once" }

func allowAlways(rule string) string { return "hookmux guard exception add " + rule }

// AllowCommands returns the commands that allow what a rule blocks.
func AllowCommands(rule string) string {
	return "allow once: " + AllowOnce(rule) + "; always: " + allowAlways(rule)
}

// ShortDenial shortens a [Denial] for lists: what blocked it, and why. It returns
// any other text unchanged: records hold only the text, and nothing is decided by it.
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
