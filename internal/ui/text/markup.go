package text

import "strings"

// Marks that agents put around text for their models. What is between the first ones is
// meant for the model alone; of the others only the marks are removed.
var (
	modelOnlyMarks = []string{"system-reminder", "system_reminder", "environment_context", "user_instructions"}
	wrappingMarks  = []string{"tool_use_error", "local-command-stdout", "local-command-stderr", "command-name",
		"command-message",
		"command-args", "bash-stdout", "bash-stderr", "bash-input", "error"}
)

// withoutMarkup returns an agent's text without marks that are meant for its model.
func withoutMarkup(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	for _, mark := range modelOnlyMarks {
		for {
			from := strings.Index(s, "<"+mark+">")
			if from < 0 {
				break
			}
			end := "</" + mark + ">"
			to := strings.Index(s[from:], end)
			if to < 0 {
				s = s[:from] // it was cut
				break
			}
			s = strings.TrimRight(s[:from], " \n") + " " + strings.TrimLeft(s[from+to+len(end):], " \n")
		}
	}
	for _, mark := range wrappingMarks {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "<"+mark+">", ""), "</"+mark+">", "")
	}
	return strings.TrimSpace(s)
}
