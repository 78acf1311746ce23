package facts

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// isPoll reports whether a command only checks a status. One that writes a file does more than
// that, and so does one that may run anything.
func isPoll(c *Command, r *shell.Run, p *programs.Program) bool {
	if !p.Has(programs.Poll) && len(p.Polls) == 0 || c.Program == "sed" && (slices.Contains(c.Flags, "-i") || slices.Contains(c.Flags, "--in-place")) {
		return false
	}
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Target.Text != "/dev/null" && !strings.HasPrefix(rd.Target.Text, "&") && rd.Op != ">&" {
			return false
		}
	}
	if p.Has(programs.Poll) {
		return true
	}
	for _, phrase := range p.Polls {
		if leads(phrase, c.operands) {
			return true
		}
	}
	return false
}

// leads reports whether the operands begin with the words of a phrase; a * in it matches the
// rest of a word.
func leads(phrase string, operands []Operand) bool {
	for i, word := range strings.Fields(phrase) {
		if i >= len(operands) || operands[i].Dynamic {
			return false
		}
		start, open := strings.CutSuffix(word, "*")
		if open && !strings.HasPrefix(operands[i].Text, start) || !open && operands[i].Text != word {
			return false
		}
	}
	return true
}
