package facts

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// polls are commands that only look how something is: programs, with the leading
// words of those that also do other things.
var polls = map[string][]string{
	"sleep": nil, "true": nil, ":": nil, "date": nil, "echo": nil, "printf": nil, "tail": nil, "head": nil, "cat": nil,
	"ls": nil, "ps": nil, "pgrep": nil, "jobs": nil, "wait": nil, "test": nil, "[": nil, "[[": nil, "cd": nil,
	"pwd":  nil,
	"grep": nil, "wc": nil, "jq": nil, "uptime": nil, "df": nil, "free": nil, "lsof": nil, "ss": nil, "netstat": nil,
	"ping": nil, "nc": nil, "curl": nil, "wget": nil, "http": nil, "dig": nil, "nslookup": nil, "host": nil,
	"stat":       nil,
	"journalctl": nil, "dmesg": nil, "top": nil, "nproc": nil, "awk": nil, "sed": nil, "cut": nil, "sort": nil,
	"tr":        nil,
	"git":       {"status", "log", "fetch", "ls-remote", "diff", "show"},
	"gh":        {"run watch", "run view", "run list", "pr checks", "pr view", "pr status", "pr list", "workflow view"},
	"glab":      {"ci status", "ci view", "ci trace", "mr view", "pipeline status"},
	"kubectl":   {"get", "describe", "logs", "wait", "rollout status", "top"},
	"oc":        {"get", "describe", "logs", "wait", "rollout status"},
	"helm":      {"status", "list", "ls"},
	"docker":    {"ps", "logs", "inspect", "stats", "compose ps", "compose logs", "container ls", "info"},
	"podman":    {"ps", "logs", "inspect", "stats"},
	"systemctl": {"status", "is-active", "show", "list-units", "is-failed"},
	"aws":       {"* describe-*", "* get-*", "* list-*", "* wait", "s3 ls", "logs tail"},
	"gcloud": {"* * describe", "* * list",
		"builds log", "* describe", "* list"},
	"az": {"* show", "* list", "* * show", "* * list"}, "terraform": {"show", "output", "state list"},
	"fly":    {"status", "logs"},
	"flyctl": {"status", "logs"}, "vercel": {"inspect", "logs", "ls"}, "heroku": {"ps", "logs", "releases"}, "tmux": {
		"capture-pane", "has-session", "ls"}, "squeue": nil, "sacct": nil, "qstat": nil, "nvidia-smi": nil,
	"pg_isready": nil,
	"redis-cli":  {"ping", "info"}, "mysqladmin": {"ping", "status"}, "adb": {"devices", "shell getprop", "logcat",
		"wait-for-device"}, "xcrun": {"simctl list", "notarytool info"}, "supervisorctl": {"status"},
	"pm2": {"ls", "status",
		"logs", "list"}, "circleci": nil, "buildkite-agent": nil, "argocd": {"app get", "app wait"}, "flux": {"get"},
}

// isPoll reports whether a command only looks how something is. One that writes a
// file does more than that, and so does one that may run anything.
func isPoll(c *Command, r *shell.Run) bool {
	phrases, ok := polls[c.Program]
	if !ok || c.Program == "sed" && (slices.Contains(c.Flags, "-i") || slices.Contains(c.Flags, "--in-place")) {
		return false
	}
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Target.Text != "/dev/null" && !strings.HasPrefix(rd.Target.Text, "&") && rd.Op != ">&" {
			return false
		}
	}
	if phrases == nil {
		return true
	}
	for _, phrase := range phrases {
		if leads(phrase, c.operands) {
			return true
		}
	}
	return false
}

// leads reports whether the operands begin with the words of a phrase; a * in it
// stands for the rest of a word.
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
