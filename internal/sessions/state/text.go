package state

import (
	"strconv"
	"strings"
)

const (
	maxSummary = MaxSummary // characters of a summary, a title, an error
	maxLabel   = 80         // characters of what goes on now
)

func countOf(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// isAgentsOwnReport reports whether a prompt is the agent's own report to itself.
func isAgentsOwnReport(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	return strings.HasPrefix(prompt, "<task-notification") || strings.HasPrefix(prompt, "<hook_prompt") ||
		strings.HasPrefix(prompt, "<system-reminder") || strings.HasPrefix(prompt, "<system_reminder") ||
		strings.HasPrefix(prompt, "<system_notification")
}
