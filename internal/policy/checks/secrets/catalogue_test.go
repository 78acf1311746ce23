package secrets

import "testing"

// TestAgentsCredentialsStaySecret: these stood in this package before the catalogue said
// them.
func TestAgentsCredentialsStaySecret(t *testing.T) {
	for tail, want := range map[string]string{
		".claude/.credentials.json": "Claude credentials", ".codex/auth.json": "Codex credentials",
		".gemini/oauth_creds.json": "Gemini credentials", ".gemini/google_accounts.json": "Gemini credentials",
		"opencode/auth.json": "OpenCode credentials", ".qwen/oauth_creds.json": "Qwen credentials",
		".grok/auth.json": "Grok credentials", ".kimi-code/server.token": "Kimi tokens",
		".config/amp/secrets.json": "secrets", ".pi/agent/auth.json": "agent credentials",
		".config/github-copilot/hosts.json": "Copilot tokens", ".config/github-copilot/apps.json": "Copilot tokens",
	} {
		if got, ok := secretPath("/home/dev/"+tail, "/home/dev"); !ok || got != want {
			t.Errorf("%s: want %q, got %q (secret: %v)", tail, want, got, ok)
		}
	}
	for _, pattern := range []string{".cod?x/auth.json", "~/.claud?/.credentials.json"} {
		if _, ok := fitsSecret(pattern); !ok {
			t.Errorf("%s: want it to fit a secret, got none", pattern)
		}
	}
}
