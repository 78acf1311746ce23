package clauderules

// StrictReason says how strict found a rule that Claude Code misses.
type StrictReason string
