package destructive

import "regexp"

// Where a command cannot be read, only its text is left to go by. That would be
// far too coarse for ordinary commands; for the few that no shell accepts either
// it is the careful choice.
var unreadableDanger = []*regexp.Regexp{
	regexp.MustCompile(`\brm\s+(-[-\w=]+\s+)*-(\w*[rR]|-recursive)`),
	regexp.MustCompile(`\bfind\b[^|;\n]*\s-delete\b`),
	regexp.MustCompile(`\bmkfs\b|\bwipefs\b|\bblkdiscard\b|\bof=/dev/[shvxnmd]|>\s*/dev/(sd|hd|vd|nvme|disk|mmcblk)`),
	regexp.MustCompile(`\bgit\b[^|;\n]*\b(push\b[^|;\n]*(--force\b|\s-f\b|--mirror)|reset\b[^|;\n]*--hard|clean\b[^|;\n]*\s-\w*f|filter-branch|reflog\s+expire)`),
	regexp.MustCompile(`\b(curl|wget)\b[^\n]*\|\s*(sudo\s+)?(ba|z|da|k)?sh\b`),
	regexp.MustCompile(`\b(shutdown|reboot|poweroff|halt)\b\s*(-|now|\+|$)`),
	regexp.MustCompile(`\b(terraform|tofu|pulumi|terragrunt|cdk)\b[^|;\n]*\bdestroy\b|\b(kubectl|helm)\b[^|;\n]*\b(delete|uninstall)\b`),
	regexp.MustCompile(`(?i)\bdrop\s+(database|schema|table)\b|\bflushall\b|\bdropdb\b`),
	regexp.MustCompile(`\bch(mod|own)\s+(-\w+\s+)*-\w*R`),
	regexp.MustCompile(`:\s*\(\s*\)\s*\{`),
}

// NamedIn finds the first dangerous command in text that cannot be parsed.
func (Checker) NamedIn(text string) string {
	for _, re := range unreadableDanger {
		if m := re.FindString(text); m != "" {
			return m
		}
	}
	return ""
}
