package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/hookmux/hookmux/internal/launch"
)

// Recorder makes an agent that hookmux does not speak to yet write down what
// it tells its hooks: one file per call in a folder.
type Recorder struct {
	// Events are those to register for; Sure those that a headless turn with
	// one command always brings.
	Events []string
	Sure   []string
	// Install registers a program that takes the event's name as its argument.
	// Payloads go to the folder of the same stage.
	Install func(home, program, folder string, events []string) error
}

// Payload is one recorded call.
type Payload struct {
	Event string
	Body  []byte
}

const recordScript = `#!/bin/sh
# Written by hookmux verify: keeps what the agent says, answers nothing.
file="%s/$(date +%%s%%N)-$$-$1"
cat > "$file.part" && mv "$file.part" "$file.json"
`

// prepare writes the recording program and registers it.
func (r *Recorder) prepare(base, home string) (folder string, err error) {
	folder = filepath.Join(base, "payloads")
	program := filepath.Join(base, "record")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(program, fmt.Appendf(nil, recordScript, folder), 0o700); err != nil {
		return "", err
	}
	return folder, r.Install(home, program, folder, r.Events)
}

// read gives what was recorded, oldest first.
func (r *Recorder) read(folder string) ([]Payload, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var out []Payload
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		out = append(out, Payload{Event: name[strings.LastIndex(name, "-")+1:], Body: body})
	}
	return out, nil
}

func recordHandlers(program string, events []string) []Handler {
	var out []Handler
	for _, e := range events {
		out = append(out, Handler{e, launch.ShellWords([]string{program, e}), 20})
	}
	return out
}

// recordedBy makes a way of registering hooks one of registering the recorder.
func recordedBy(hooks func(string, []Handler) error) func(string, string, string, []string) error {
	return func(home, program, _ string, events []string) error {
		return hooks(home, recordHandlers(program, events))
	}
}

// intoSettings registers in a settings file that may hold other things.
func intoSettings(rel string, unit int) func(string, []Handler) error {
	return func(home string, handlers []Handler) error {
		return mergeJSON(filepath.Join(home, rel), map[string]any{"hooks": nested(handlers, unit)})
	}
}

// The ways in which further agents take command hooks.
var (
	codebuddyHooks = intoSettings(".codebuddy/settings.json", 1)
	geminiHooks    = intoSettings(".gemini/settings.json", 1000)
	qwenHooks      = intoSettings(".qwen/settings.json", 1)
)

// kimiHooks: strict, one key too many and it ignores all hooks.
func kimiHooks(home string, handlers []Handler) error {
	file := filepath.Join(home, ".kimi-code/config.toml")
	whole := map[string]any{}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := toml.Unmarshal(b, &whole); err != nil {
		return err
	}
	var hooks []any
	for _, h := range handlers {
		hooks = append(hooks, map[string]any{"event": h.Event, "command": h.Command, "timeout": min(h.Seconds, 600)})
	}
	whole["hooks"] = hooks
	if b, err = toml.Marshal(whole); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}

// droidHooks: in this file events stand at the top, without a wrapper.
func droidHooks(home string, handlers []Handler) error {
	return writeJSON(filepath.Join(home, ".factory/hooks.json"), nested(handlers, 1))
}

func gooseHooks(home string, handlers []Handler) error {
	dir := filepath.Join(home, ".agents/plugins/hookmux-record")
	if err := writeJSON(filepath.Join(dir, "plugin.json"), map[string]any{"name": "hookmux-record", "version": "1.0.0"}); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "hooks/hooks.json"), map[string]any{"hooks": nested(handlers, 1)})
}

func copilotHooks(home string, handlers []Handler) error {
	hooks := map[string]any{}
	for _, h := range handlers {
		list, _ := hooks[h.Event].([]any)
		hooks[h.Event] = append(list, map[string]any{"type": "command", "bash": h.Command, "timeoutSec": h.Seconds})
	}
	return writeJSON(filepath.Join(home, ".copilot/hooks/hookmux.json"), map[string]any{"version": 1, "hooks": hooks})
}

var toolTurn = []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}

var kimiRecorder = &Recorder{
	Events:  append([]string{"SessionStart", "TurnStarted"}, toolTurn...),
	Sure:    toolTurn,
	Install: recordedBy(kimiHooks),
}

var droidRecorder = &Recorder{
	Events:  append([]string{"SessionStart", "SessionEnd"}, toolTurn...),
	Sure:    []string{"SessionStart", "PreToolUse", "PostToolUse", "Stop"},
	Install: recordedBy(droidHooks),
}

var codebuddyRecorder = &Recorder{
	Events: append([]string{"SessionStart"}, toolTurn...), Sure: toolTurn,
	Install: recordedBy(codebuddyHooks),
}

var clineRecorder = &Recorder{
	Events: []string{"TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"},
	Sure:   []string{"TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"},
	Install: func(home, program, _ string, events []string) error {
		dir := filepath.Join(home, ".cline/hooks")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for _, e := range events {
			script := "#!/bin/sh\nexec " + launch.ShellWords([]string{program, e}) + "\n"
			if err := os.WriteFile(filepath.Join(dir, e), []byte(script), 0o700); err != nil {
				return err
			}
		}
		return nil
	},
}

var gooseRecorder = &Recorder{
	Events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"},
	Sure:    []string{"UserPromptSubmit", "PreToolUse", "PostToolUse"},
	Install: recordedBy(gooseHooks),
}

var geminiRecorder = &Recorder{
	Events:  []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"},
	Sure:    []string{"BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"},
	Install: recordedBy(geminiHooks),
}

var qwenRecorder = &Recorder{
	Events: append([]string{"SessionStart"}, toolTurn...), Sure: toolTurn,
	Install: recordedBy(qwenHooks),
}

var copilotRecorder = &Recorder{
	Events:  []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"},
	Sure:    []string{"userPromptSubmitted", "preToolUse", "postToolUse"},
	Install: recordedBy(copilotHooks),
}

// Two agents have plugins in place of commands. The plugin does what the
// recording program does.

const recordPlugin = `import { writeFileSync, renameSync } from "node:fs"
let n = 0
const keep = (event, body) => {
  const file = FOLDER + "/" + Date.now() + String(++n).padStart(6, "0") + "-" + process.pid + "-" + event
  try {
    writeFileSync(file + ".part", JSON.stringify(body) ?? "null")
    renameSync(file + ".part", file + ".json")
  } catch {}
}
`

func pluginFile(rel, body string) func(string, string, string, []string) error {
	return func(home, _, folder string, events []string) error {
		file := filepath.Join(home, rel)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		names := `["` + strings.Join(events, `", "`) + `"]`
		text := strings.ReplaceAll(recordPlugin, "FOLDER", fmt.Sprintf("%q", folder)) + strings.ReplaceAll(body, "EVENTS", names)
		return os.WriteFile(file, []byte(text), 0o600)
	}
}

var opencodeRecorder = &Recorder{
	Events: []string{"chat.message", "tool.execute.before", "tool.execute.after"},
	Sure:   []string{"chat.message", "tool.execute.before", "tool.execute.after"},
	Install: pluginFile(".config/opencode/plugin/hookmux-record.js", `export const HookmuxRecord = async () =>
  Object.fromEntries(EVENTS.map((name) => [name, async (input, output) => keep(name, { input, output })]))
`),
}

var piRecorder = &Recorder{
	Events: []string{"session_start", "agent_start", "tool_call", "tool_result", "agent_end", "session_shutdown"},
	Sure:   []string{"session_start", "tool_call", "tool_result", "agent_end"},
	Install: pluginFile(".pi/agent/extensions/hookmux-record.js", `export default function (pi) {
  for (const name of EVENTS) pi.on(name, (event) => { keep(name, event) })
}
`),
}
