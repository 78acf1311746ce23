package guards

import (
	"testing"

	"github.com/hookmux/hookmux/internal/policy/facts"
)

// Agents' tools don't change the audit trail, and don't read what other projects decided
// from it.
func TestAuditTrailIsOurs(t *testing.T) {
	g := NewOwnFiles(Options{Machine: facts.Machine{OwnPaths: []string{"/home/dev/.local/state/hookmux", "/home/dev/.local/share/hookmux"}}})
	for command, want := range map[string]string{
		"rm -rf /home/dev/.local/state/hookmux/audit":                      "own-files.delete",
		"truncate -s 100 /home/dev/.local/state/hookmux/audit/heads.jsonl": "own-files.write",
		"echo x >> /home/dev/.local/state/hookmux/audit/head.json":         "own-files.write",
		"rm /home/dev/.local/state/hookmux/audit.key":                      "own-files.delete",
		"rm /home/dev/.local/share/hookmux/audit.once":                     "own-files.delete",
		"hookmux audit export --since 30d":                                 "own-files.control",
		"hookmux audit verify":                                             "",
	} {
		checkRule(t, g, devCall(Call{ToolKind: "shell", ToolName: "Bash", Commands: []string{command}}), want)
	}
}
