package realagents

import (
	"net/url"
	"strings"
)

// What each agent needs to run offline, without dialogs and without an account.

type obj = map[string]any

func claudeHome(h *homeWriter) {
	projects := obj{}
	for _, p := range h.projects {
		projects[p] = obj{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
	}
	// The key is approved by its last 20 characters.
	h.writeJSON(".claude.json", obj{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  obj{"approved": []string{dummyKey[len(dummyKey)-20:]}, "rejected": []string{}},
		"projects":               projects,
	})
	h.setVariable("ANTHROPIC_BASE_URL", h.modelURL)
	h.setVariable("ANTHROPIC_API_KEY", dummyKey)
	for _, k := range []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY",
		"DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"} {
		h.setVariable(k, "1")
	}
}

func codexHome(h *homeWriter) {
	projects := obj{}
	for _, p := range h.projects {
		projects[p] = obj{"trust_level": "trusted"}
	}
	h.writeTOML(".codex/config.toml", obj{
		"model":                       "gpt-5.5", // this name selects the classic tool set
		"model_provider":              modelName,
		"check_for_update_on_startup": false,
		"model_providers": obj{modelName: obj{
			"name": "Scripted", "base_url": h.modelURL + "/v1", "wire_api": "responses", "env_key": "HOOKMUX_MODEL_KEY",
		}},
		// Without these two it waits 5 s for a name server.
		"features":  obj{"plugins": false, "apps": false},
		"analytics": obj{"enabled": false},
		"projects":  projects,
	})
	h.setVariable("CODEX_HOME", h.homePath(".codex"))
	h.setVariable("HOOKMUX_MODEL_KEY", dummyKey)
}

func grokHome(h *homeWriter) {
	h.writeTOML(".grok/config.toml", obj{
		"models": obj{"default": modelName},
		"model": obj{modelName: obj{
			"model": modelName, "base_url": h.modelURL + "/v1", "api_key": dummyKey, "api_backend": "chat_completions",
			"context_window": 200000,
		}},
	})
	h.setVariable("GROK_HOME", h.homePath(".grok"))
}

func kimiHome(h *homeWriter) {
	h.writeTOML(".kimi-code/config.toml", obj{
		"default_model": modelName,
		"providers":     obj{modelName: obj{"type": "openai", "base_url": h.modelURL + "/v1", "api_key": dummyKey}},
		"models":        obj{modelName: obj{"provider": modelName, "model": modelName, "max_context_size": 200000}},
	})
}

const droidModel = "custom:Scripted-0"

func droidHome(h *homeWriter) {
	h.writeJSON(".factory/settings.json", obj{
		"customModels": []obj{{
			"id": droidModel, "model": modelName, "displayName": "Scripted", "baseUrl": h.modelURL + "/v1",
			"apiKey":   dummyKey,
			"provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
		}},
	})
}

func codebuddyHome(h *homeWriter) {
	h.writeJSON(".codebuddy/models.json", obj{
		"models": []obj{{
			"id": modelName, "name": "Scripted", "vendor": "hookmux", "url": h.modelURL + "/v1/chat/completions",
			"apiKey":         dummyKey,
			"maxInputTokens": 200000, "maxOutputTokens": 8192, "supportsToolCall": true,
		}},
		"availableModels": []string{modelName},
	})
	h.setVariable("CODEBUDDY_API_KEY", dummyKey)
	h.setVariable("CODEBUDDY_BASE_URL", h.modelURL)
}

// clineHome writes what `cline auth` would.
func clineHome(h *homeWriter) {
	const provider = "openai-compatible"
	h.writeJSON(".cline/data/settings/providers.json", obj{
		"version": 1, "lastUsedProvider": provider, "modes": obj{},
		"providers": obj{provider: obj{
			"settings": obj{"provider": provider, "apiKey": dummyKey, "model": modelName,
				"baseUrl": h.modelURL + "/v1"},
			"updatedAt":   "2026-01-01T00:00:00.000Z",
			"tokenSource": "manual",
		}},
	})
}

// auggieHome sends it to a tenant of our own, which has hooks switched on.
func auggieHome(h *homeWriter) {
	h.setVariable("AUGMENT_SESSION_AUTH", `{"accessToken":"`+dummyKey+`","tenantURL":"`+h.modelURL+
		`/","scopes":["email"]}`)
	h.setVariable("AUGMENT_DISABLE_AUTO_UPDATE", "1")
}

func gooseHome(h *homeWriter) {
	// Host and path are given apart: a path in the host is dropped.
	u, err := url.Parse(h.modelURL)
	if err != nil {
		h.noteError(err)
		return
	}
	h.setVariable("GOOSE_PROVIDER", "openai")
	h.setVariable("GOOSE_MODEL", modelName)
	h.setVariable("GOOSE_MODE", "auto")
	h.setVariable("GOOSE_DISABLE_KEYRING", "1")
	h.setVariable("OPENAI_HOST", u.Scheme+"://"+u.Host)
	h.setVariable("OPENAI_BASE_PATH", strings.TrimPrefix(u.EscapedPath()+"/v1/chat/completions", "/"))
	h.setVariable("OPENAI_API_KEY", dummyKey)
}

// cursorHome writes the variable by which the program around Cursor finds the model.
func cursorHome(h *homeWriter) {
	h.setVariable("CURSOR_API_KEY", dummyKey)
	h.setVariable("HOOKMUX_MODEL_URL", h.modelURL)
}

func geminiHome(h *homeWriter) {
	h.writeJSON(".gemini/settings.json", obj{
		"security": obj{"auth": obj{"selectedType": "gemini-api-key"}, "folderTrust": obj{"enabled": false}},
		"general":  obj{"disableAutoUpdate": true, "disableUpdateNag": true},
		"privacy":  obj{"usageStatisticsEnabled": false},
	})
	h.setVariable("GEMINI_API_KEY", dummyKey)
	h.setVariable("GOOGLE_GEMINI_BASE_URL", h.modelURL)
}

// ampHome writes the variable by which the program around Amp finds the model; that
// program is Amp's service, too.
func ampHome(h *homeWriter) {
	h.setVariable("AMP_API_KEY", dummyKey)
	h.setVariable("HOOKMUX_MODEL_URL", h.modelURL)
}

// openclawHome makes the project its agent's folder: it works there, not where it is started.
func openclawHome(h *homeWriter) {
	h.writeJSON(".openclaw/openclaw.json", obj{
		"models": obj{"providers": obj{modelName: obj{
			"baseUrl": h.modelURL + "/v1", "apiKey": dummyKey, "api": "openai-completions",
			"models": []obj{{
				"id": modelName, "name": "Scripted", "reasoning": false, "input": []string{"text"},
				"cost":          obj{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
				"contextWindow": 200000, "maxTokens": 8192,
			}},
		}}},
		"agents": obj{"defaults": obj{
			"model": obj{"primary": modelName + "/" + modelName}, "workspace": h.projects[0], "skipBootstrap": true,
		}},
		"update": obj{"checkOnStart": false},
	})
}

func opencodeHome(h *homeWriter) { likeOpencodeHome(h, "opencode", "@opencode-ai/plugin", "OPENCODE") }

func kiloHome(h *homeWriter) {
	likeOpencodeHome(h, "kilo", "@kilocode/plugin", "KILO")
	h.setVariable("KILO_TELEMETRY_LEVEL", "off")
	h.setVariable("KILO_DISABLE_SESSION_INGEST", "1")
}

// likeOpencodeHome writes for OpenCode, and for what was made from it: the name of
// the folder and of the config, its package for plugins, and what its variables
// begin with.
func likeOpencodeHome(h *homeWriter, name, pluginPackage, variables string) {
	folder := ".config/" + name + "/"
	h.writeJSON(folder+name+".json", obj{
		"provider": obj{modelName: obj{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": obj{"baseURL": h.modelURL + "/v1", "apiKey": dummyKey},
			"models": obj{modelName: obj{"name": "Scripted", "tool_call": true,
				"limit": obj{"context": 200000, "output": 8192}}},
		}},
		"model": modelName + "/" + modelName, "small_model": modelName + "/" + modelName,
		"autoupdate": false, "share": "disabled",
	})
	// As soon as there is a plugin it would try for over a minute to install its
	// plugin package; it believes it is there when these two exist.
	h.makeFolder(folder + "node_modules")
	h.writeJSON(folder+"package-lock.json",
		obj{"packages": obj{"": obj{"dependencies": obj{pluginPackage: "*"}}}})
	for _, k := range []string{"DISABLE_MODELS_FETCH", "DISABLE_AUTOUPDATE", "DISABLE_LSP_DOWNLOAD"} {
		h.setVariable(variables+"_"+k, "1")
	}
}

func piHome(h *homeWriter) {
	h.writeJSON(".pi/agent/models.json", obj{"providers": obj{modelName: obj{
		"baseUrl": h.modelURL + "/v1", "apiKey": dummyKey, "api": "openai-completions",
		"models": []obj{{
			"id": modelName, "name": "Scripted", "reasoning": false, "input": []string{"text"},
			"cost":          obj{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": 200000, "maxTokens": 8192,
		}},
	}}})
	// Else a short conversation is never compacted.
	h.writeJSON(".pi/agent/settings.json", obj{"compaction": obj{"keepRecentTokens": 1}})
	h.setVariable("PI_OFFLINE", "1")
}

// ompHome writes its YAML as JSON, which is YAML, too.
func ompHome(h *homeWriter) {
	h.writeJSON(".omp/agent/models.yml", obj{"providers": obj{modelName: obj{
		"baseUrl": h.modelURL + "/v1", "apiKey": dummyKey, "api": "openai-completions",
		"models": []obj{{
			"id": modelName, "name": "Scripted", "reasoning": false, "input": []string{"text"},
			"cost":          obj{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": 8000000, "maxTokens": 8192, // else it compacts after a large call
		}},
	}}})
	h.writeJSON(".omp/agent/config.yml", obj{
		"startup": obj{"checkUpdate": false, "setupWizard": false, "quiet": true},
		// Else a short conversation is never compacted.
		"compaction": obj{"keepRecentTokens": 1},
	})
}

func qwenHome(h *homeWriter) {
	h.writeJSON(".qwen/settings.json", obj{
		"security": obj{"auth": obj{"selectedType": "openai"}, "folderTrust": obj{"enabled": false}},
		"general":  obj{"enableAutoUpdate": false},
		"privacy":  obj{"usageStatisticsEnabled": false},
	})
	h.setVariable("OPENAI_API_KEY", dummyKey)
	h.setVariable("OPENAI_BASE_URL", h.modelURL+"/v1")
	h.setVariable("OPENAI_MODEL", modelName)
}

func copilotHome(h *homeWriter) {
	h.writeJSON(".copilot/config.json", obj{"trustedFolders": h.projects})
	h.setVariable("COPILOT_OFFLINE", "true")
	h.setVariable("COPILOT_PROVIDER_BASE_URL", h.modelURL+"/v1")
	h.setVariable("COPILOT_MODEL", modelName)
	h.setVariable("COPILOT_AUTO_UPDATE", "false")
}
