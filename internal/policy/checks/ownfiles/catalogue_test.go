package ownfiles

import (
	"slices"
	"testing"
)

// guardedBefore are the endings that stood in this package before the catalogue said
// them: what was guarded once stays guarded.
var guardedBefore = []string{
	".hookmux/", ".config/hookmux/", ".local/state/hookmux/", ".local/share/hookmux/", "/etc/hookmux/",
	"library/application support/hookmux/", ".agents/plugins/hookmux/",
	".claude/settings.json", ".claude/settings.local.json", "/etc/claude-code/managed-settings.json",
	".codex/hooks.json", ".codex/config.toml", "/etc/codex/config.toml",
	".gemini/settings.json", ".gemini/hooks.json", ".gemini/trusted_hooks.json", ".gemini/config/hooks.json",
	".gemini/antigravity-cli/hooks.json",
	".grok/hooks/", ".grok/config.toml", ".grok/settings.json", ".cursor/hooks.json", "/etc/cursor/hooks.json",
	"support/cursor/hooks.json",
	".copilot/hooks/", ".copilot/config.json", ".github/hooks/", ".kiro/hooks/", ".cline/hooks/", ".clinerules/hooks/",
	".factory/hooks.json", ".factory/hooks/", ".factory/settings.json", ".qwen/settings.json", ".qoder/settings.json",
	".qoder/settings.local.json",
	".codebuddy/settings.json", ".codebuddy/settings.local.json", ".iflow/settings.json", ".augment/settings.json",
	".trae/hooks.json",
	".windsurf/hooks.json", ".codeium/hooks.json", ".codeium/windsurf/hooks.json", "/etc/windsurf/hooks.json",
	"support/windsurf/hooks.json", ".devin/hooks.v1.json", ".devin/config.json", ".config/devin/config.json",
	".openhands/hooks.json", ".junie/config.json", ".continue/settings.json", ".commandcode/settings.json",
	".rovodev/config.yml",
	".config/amp/settings.json", ".amp/settings.json", ".amp/plugins/", ".config/amp/plugins/",
	".config/goose/settings.json", ".hermes/shell-hooks-allowlist.json", ".hermes/hooks/", ".hermes/config.yaml",
	".vibe/hooks.toml", ".kimi/config.toml", ".kimi-code/config.toml", ".config/crush/crush.json", ".crush.json",
	".config/opencode/plugin/", ".config/opencode/plugins/", ".config/opencode/opencode.json",
	".config/opencode/opencode.jsonc", ".opencode/plugin/", ".opencode/plugins/",
	".config/kilo/plugin/", ".config/kilo/plugins/", ".kilo/plugin/", ".kilo/plugins/", ".pi/agent/extensions/",
	".pi/extensions/", ".omp/agent/extensions/", ".omp/extensions/",
}

// rootsBefore are the folders that stood here.
var rootsBefore = []string{
	".hookmux", ".claude", ".codex", ".gemini", ".grok", ".cursor", ".copilot", ".kiro", ".cline", ".factory",
	".qwen", ".qoder", ".codebuddy", ".iflow", ".augment", ".trae", ".windsurf", ".codeium", ".openhands",
	".junie", ".continue", ".commandcode", ".rovodev", ".amp", ".hermes", ".vibe", ".kimi", ".kimi-code",
	".opencode", ".kilo", ".pi", ".omp", ".devin", "hookmux",
}

func TestWhatWasGuardedStaysGuarded(t *testing.T) {
	for _, ending := range guardedBefore {
		if !slices.Contains(hookConfigs(), ending) {
			t.Errorf("%s: want it guarded, got an entry of an agent that lacks it", ending)
		}
	}
	for _, folder := range rootsBefore {
		if !ownRoots()[folder] {
			t.Errorf("%s: want its loss noticed, got an entry of an agent that lacks it", folder)
		}
	}
}
