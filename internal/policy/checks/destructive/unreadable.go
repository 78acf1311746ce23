package destructive

import "github.com/hookmux/hookmux/internal/platform/lazyregexp"

// If a command can't be read, only its text is left to check. That would be far too coarse for
// ordinary commands; for the few that no shell accepts either it is the careful choice.
var unreadableDanger = []*lazyregexp.Regexp{
	lazyregexp.New(`\brm\s+(-[-\w=]+\s+)*-(\w*[rR]|-recursive)`),
	lazyregexp.New(`\bfind\b[^|;\n]*\s-delete\b`),
	lazyregexp.New(`\bmkfs\b|\bwipefs\b|\bblkdiscard\b|\bof=/dev/[shvxnmd]|>\s*/dev/(sd|hd|vd|nvme|disk|mmcblk)`),
	lazyregexp.New(`\bgit\b[^|;\n]*\b(push\b[^|;\n]*(--force\b|\s-f\b|--mirror)|reset\b[^|;\n]*--hard|clean\b[^|` +
		`;\n]*\s-\w*f|filter-branch|reflog\s+expire)`),
	lazyregexp.New(`\b(curl|wget)\b[^\n]*\|\s*(sudo\s+)?(ba|z|da|k)?sh\b`),
	lazyregexp.New(`\b(shutdown|reboot|poweroff|halt)\b\s*(-|now|\+|$)`),
	lazyregexp.New(`\b(terraform|tofu|pulumi|terragrunt|cdk)\b[^|;\n]*\bdestroy\b|\b(kubectl|helm)\b[^|` +
		`;\n]*\b(delete|uninstall)\b`),
	lazyregexp.New(`(?i)\bdrop\s+(database|schema|table)\b|\bflushall\b|\bdropdb\b`),
	lazyregexp.New(`\bch(mod|own)\s+(-\w+\s+)*-\w*R`),
	lazyregexp.New(`:\s*\(\s*\)\s*\{`),
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
