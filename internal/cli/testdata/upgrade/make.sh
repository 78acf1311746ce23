#!/bin/bash
# Makes the home that TestUpgrade starts from, with the programs of an older
# hookmux in $1: `hookmux`, which is that version's own test program (go test -c
# ./cmd/hookmux, so that the script may decide things), and `hookmux-hook`. Then:
#   HOOKMUX_PACK_HOME=1 go test ./internal/cli -run TestPackOldHome
set -e
base=/tmp/hookmux-upgrade
rm -rf "$base"
mkdir -p "$base/home" "$base/bin" "$base/run" "$base/work/.git"
chmod 700 "$base/run"
cp "$1/hookmux" "$1/hookmux-hook" "$base/bin/"
export HOME=$base/home HOOKMUX_RUNTIME_DIR=$base/run PATH=$base/bin:/usr/bin:/bin TZ=UTC LANG=C.UTF-8

# Agents' own settings, with comments, tabs, other people's line ends and hooks.
cd "$HOME"
mkdir -p .claude .codex .gemini .qwen .copilot .factory .grok .kimi-code .config/opencode .pi/agent .codebuddy
printf '{\n  // my own settings\n  "model": "opus",\n  "hooks": {\n    "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ]\n  }\n}\n' >.claude/settings.json
printf '# mine\nmodel = "gpt-5"\n\n[features]\nweb = true\n' >.codex/config.toml
printf '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"notify-me"}]}]}}' >.codex/hooks.json
printf '{\n\t"theme": "dark" // tabs\n}\n' >.gemini/settings.json
printf '{ "theme": "light" }' >.qwen/settings.json
printf '{}\n' >.factory/settings.json
printf '{\r\n  "x": 1\r\n}\r\n' >.codebuddy/settings.json
printf '{"theme":"x"}\n' >.config/opencode/opencode.json
cp -a "$HOME" "$base/before"

cd "$base/work"
hookmux hub start
hookmux install --yes claude codex gemini qwen copilot droid grok kimi opencode pi codebuddy >/dev/null
hookmux config set resume.claude on
hookmux guard on destructive
hookmux config set journal.keep 10000d
hookmux hooks '*' add tool.before --global --id no-prod --match-command '\bdeploy prod\b' \
	--handler command --target 'echo "no prod deploys" >&2; exit 2'
hookmux hooks claude add turn.end --global --id log-ends

# send AGENT EVENT PAYLOAD
send() { printf '%s' "$3" | HOOKMUX_TEST_BELOW=$1 hookmux-hook "$1" "$2" 60; }
s='"session_id":"0199aa-1","transcript_path":"","cwd":"/home/dev/shop"'
send claude SessionStart "{$s,\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}"
send claude UserPromptSubmit "{$s,\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"fix the payment bug\"}"
send claude PreToolUse "{$s,\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"npm test\"},\"tool_use_id\":\"t1\"}"
send claude PostToolUse "{$s,\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"npm test\"},\"tool_use_id\":\"t1\",\"tool_response\":{\"stdout\":\"ok\"}}"
send claude PreToolUse "{$s,\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"deploy prod\"},\"tool_use_id\":\"t2\"}"
send claude Stop "{$s,\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}"
c='"session_id":"0199bb-2","cwd":"/home/dev/api","model":"gpt-5","permission_mode":"default","turn_id":"u1"'
send codex SessionStart "{$c,\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}"
send codex UserPromptSubmit "{$c,\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"add an endpoint\"}"
g='"session_id":"g-3","cwd":"/home/dev/web","timestamp":"2026-01-01T00:00:00Z"'
send gemini SessionStart "{$g,\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}"
send gemini BeforeAgent "{$g,\"hook_event_name\":\"BeforeAgent\",\"prompt\":\"make it blue\"}"

# A standing grant, and a title that a person gave.
hookmux away
printf '%s' "{$s,\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"make -j4 test\"}}" >"$base/make.json"
HOOKMUX_TEST_BELOW=claude hookmux-hook claude PermissionRequest 60 <"$base/make.json" &
id=
until [ -n "$id" ]; do
	sleep 1
	id=$(hookmux feed --json | sed -n 's/.*"id": "\([a-z2-9]*\)".*/\1/p' | head -1)
done
hookmux approve "$id" --always --yes --scope everywhere
wait %1
hookmux back
hookmux rename 0199aa 'payment bug'
hookmux hub stop
