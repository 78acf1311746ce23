package ruleimport

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookmux/hookmux/internal/policy/claude"
)

// shortForm is "list rule" of everything taken over, "left reason" of the rest.
func shortForm(result Result) []string {
	var out []string
	for _, item := range result.Items {
		out = append(out, string(item.List)+" "+item.Rule)
	}
	for _, left := range result.Skipped {
		out = append(out, "left "+string(left.Reason))
	}
	return out
}

func TestPrefixRules(t *testing.T) {
	text := `# made by hand
prefix_rule(
    pattern = ["git", ["push", "fetch"]],  # two alternatives
    decision = "prompt",
    justification = "asks 'why'",
    match = [["git", "push", "origin"], "git fetch --all"],
    not_match = ["git status"],
)
prefix_rule(pattern=["rm", "-rf"], decision="forbidden")
prefix_rule(pattern=['ls'])
prefix_rule(pattern=["a b"])
prefix_rule(pattern=["x"], decision="maybe")
prefix_rule(pattern=["git", "push"], decision="forbidden", not_match=["git push origin"])
host_executable(name = "git", paths = ["/usr/bin/git"])
x = 5
prefix_rule(pattern=["cargo", "build"], decision="allow", future="y")
`
	result := PrefixRules(text)
	want := []string{"ask Bash(git push:*)", "ask Bash(git fetch:*)", "deny Bash(rm -rf:*)", "allow Bash(ls:*)",
		"left not-plain-word", "left decision-unsaid", "left example-fails", "left unknown-key", "left not-understood",
		"left unknown-key"}
	if diff := cmp.Diff(want, shortForm(result)); diff != "" {
		t.Errorf("rules taken over (-want +got):\n%s", diff)
	}
	if got := result.Items[0]; got.Line != 2 || got.Why != "asks 'why'" {
		t.Errorf("first rule: want line 2 and its reason, got line %d and %q", got.Line, got.Why)
	}
}

func TestPolicyFile(t *testing.T) {
	result, err := PolicyFile(`
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git push", "npm publish"]
decision = "deny"
priority = 200
denyMessage = "ask a person"

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git"
decision = "ask_user"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git status"
decision = "allow"
priority = 300

[[rule]]
toolName = ["write_file", "replace"]
decision = "ask_user"
priority = 10

[[rule]]
mcpName = "lab"
decision = "allow"
priority = 1

[[rule]]
mcpName = "lab"
toolName = "echo"
decision = "deny"
priority = 5

[[rule]]
toolName = "run_shell_command"
commandRegex = "git (a|b)"
decision = "deny"
priority = 1

[[rule]]
toolName = "save_memory"
decision = "deny"
priority = 1

[[rule]]
toolName = "*"
decision = "allow"
priority = 1
`)
	if err != nil {
		t.Fatalf("want the policy read, got %v", err)
	}
	want := []string{"deny Bash(git push:*)", "deny Bash(npm publish:*)", "allow Bash(git status:*)", "ask Write", "ask Edit",
		"allow mcp__lab__*", "deny mcp__lab__echo", "left pattern", "left no-such-tool", "left wide-allow", "left order"}
	if diff := cmp.Diff(want, shortForm(result)); diff != "" {
		t.Errorf("rules taken over (-want +got):\n%s", diff)
	}
	if _, err := PolicyFile("[[rule"); err == nil {
		t.Error("a broken file: want an error, got none")
	}
}

func TestPermissionBlock(t *testing.T) {
	result, err := PermissionBlock([]byte(`{
  // comments are fine
  "permission": {
    "*": "ask",
    "bash": {"*": "allow", "git push *": "deny", "rm *": "ask", "rm x": "allow", "a?": "deny"},
    "edit": {"secrets/*": "deny", "*.env": "deny", "src/*.ts": "deny", "docs/a.md": "ask"},
    "read": "deny",
    "webfetch": "ask",
    "external_directory": "deny",
    "lab_*": "deny",
    "task": {"Explore": "deny", "x*": "deny"},
  },
}`))
	if err != nil {
		t.Fatalf("want the permissions read, got %v", err)
	}
	want := []string{"allow Bash", "deny Bash(git push *)", "allow Bash(rm x)", "deny Edit(/secrets/**)", "deny Edit(*.env)",
		"ask Edit(/docs/a.md)", "deny Read", "ask WebFetch", "deny mcp__lab", "deny Agent(Explore)",
		"left default", "left pattern", "left pattern", "left no-such-tool", "left pattern", "left order"}
	if diff := cmp.Diff(want, shortForm(result)); diff != "" {
		t.Errorf("rules taken over (-want +got):\n%s", diff)
	}
}

func TestEveryImportedRuleIsUsed(t *testing.T) {
	prefix := PrefixRules(`prefix_rule(pattern=["git", "push"], decision="forbidden")`)
	policy, err := PolicyFile("[[rule]]\nmcpName = \"a\"\ntoolName = \"b\"\ndecision = \"allow\"\npriority = 1\n")
	if err != nil {
		t.Fatalf("want the policy read, got %v", err)
	}
	block, err := PermissionBlock([]byte(`{"permission":{"edit":{"~/x/*":"allow"},"skill":{"y":"deny"}}}`))
	if err != nil {
		t.Fatalf("want the permissions read, got %v", err)
	}
	for _, result := range []Result{prefix, policy, block} {
		file := claude.ReadSettings(claude.UserSource("/home/ann"), result.Settings())
		if len(file.Rules) == 0 {
			t.Errorf("%s: want rules, got none", result.Settings())
		}
		for _, rule := range file.Rules {
			if !rule.IsUsed() {
				t.Errorf("%s %s: want a rule that is used, got %s", rule.List, rule.Text, rule.Reason)
			}
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add(`prefix_rule(pattern = ["a", ["b", 'c']], decision = "prompt")`)
	f.Add("[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\n")
	f.Add(`{"permission":{"bash":{"git *":"ask"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		results := []Result{PrefixRules(text)}
		if result, err := PolicyFile(text); err == nil {
			results = append(results, result)
		}
		if result, err := PermissionBlock([]byte(text)); err == nil {
			results = append(results, result)
		}
		for _, result := range results {
			for _, item := range result.Items {
				if strings.TrimSpace(item.Rule) == "" {
					t.Fatalf("%q: want no empty rule, got one from %q", text, item.From)
				}
			}
		}
	})
}
