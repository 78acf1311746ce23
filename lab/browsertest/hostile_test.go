package browsertest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// hostile are texts that would do something in a page that reads markup.
var hostile = []string{
	`<script>window.hit=1</script>`, `<img src=x onerror="window.hit=1">`, `"><svg onload=window.hit=1>`,
	`javascript:window.hit=1`, `</pre></article><iframe srcdoc="<script>parent.hit=1</script>">`, `{{constructor.constructor('window.hit=1')()}}`,
	`${window.hit=1}`, `\u003cscript\u003ewindow.hit=1\u003c/script\u003e`, `' onmouseover='window.hit=1`, `<a href="javascript:window.hit=1">x</a>`,
	"**<img src=x onerror=window.hit=1>**", "`<script>window.hit=1</script>`", "# <script>window.hit=1</script>", "\u202e<b>x</b>\u2066",
	`<style>*{display:none}</style>`, `<form action=/api/unpair method=post><button>x</form>`, `__proto__`, `<base href=//evil.example>`,
}

// hostileTexts are 500: each of them as it is, and inside of what may be read as something
// else.
func hostileTexts() []string {
	around := []string{"%s", "</span>%s", "\">%s", "'>%s", "-->%s", "]]>%s", "</script>%s", "</textarea>%s", "</title>%s", "`%s`",
		"**%s**", "# %s", "- %s", "$ %s", "+ %s", "  %s", "\u202e%s", "%s\u2066\u200b", "&lt;%s", "%%3C%s", "file: %s", "\x1b]8;;%s\x07",
		"x wants you to look: %s", "[%[1]s](javascript:%[1]s)", "![%[1]s](%[1]s)", "{\"a\":\"%s\"}", "always would allow: %s", "in /%s"}
	var out []string
	for _, format := range around {
		for _, text := range hostile {
			out = append(out, fmt.Sprintf(format, text))
		}
	}
	return out
}

// Text of an agent stays text in every place of the page.
func TestHostileTextsInChromium(t *testing.T) {
	w := newWorld(t)
	device := w.pair()
	texts := hostileTexts()
	if len(texts) < 500 {
		t.Errorf("only %d texts", len(texts))
	}
	all := strings.Join(texts, "\n")
	const perSession = 20 // so that one look at a session's timeline shows them all
	var last string
	for i, text := range texts {
		if i%perSession == 0 {
			last = fmt.Sprintf("%s-%d", text, i)
		}
		for _, event := range []map[string]any{
			{"hook_event_name": "SessionStart"}, {"hook_event_name": "UserPromptSubmit", "prompt": text},
			{"hook_event_name": "PostToolUse", "tool_name": text, "tool_input": map[string]any{text: text}, "tool_response": text},
			{"hook_event_name": "Stop", "last_assistant_message": text},
		} {
			event["session_id"], event["cwd"], event["model"] = last, "/home/you/"+text, text
			b, _ := json.Marshal(event)
			if _, err := w.TrySend(frame.Request{Agent: "claude", Event: event["hook_event_name"].(string), Payload: b,
				Deadline: 5 * time.Second}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var records strings.Builder
	for i, text := range texts {
		b, _ := json.Marshal(map[string]any{"type": "assistant", "timestamp": time.Now().UTC().Format(time.RFC3339), "sessionId": fmt.Sprint("h", i), "requestId": fmt.Sprint("r", i),
			"cwd": "/home/you/" + text, "message": map[string]any{"id": fmt.Sprint("m", i), "model": text, "usage": map[string]int{"input_tokens": 1000 + i, "output_tokens": 10}}})
		fmt.Fprintf(&records, "%s\n", b)
	}
	w.Write(filepath.Join(w.Dirs.Home, ".claude/projects/-home-you-hostile/h.jsonl"), records.String())
	options := []any{}
	for _, text := range hostile {
		options = append(options, map[string]any{"label": text, "description": text})
	}
	calls := []chan string{
		w.ask(claude("Bash", map[string]any{"command": all, "description": all, all: all})),
		w.ask(claude("Edit", map[string]any{"file_path": "/home/you/" + hostile[1], "old_string": all, "new_string": all})),
		w.ask(claude("ExitPlanMode", map[string]any{"plan": all})),
		w.ask(claude("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": hostile[1], "header": hostile[0], "options": options}}})),
		w.ask(claude("mcp__"+hostile[0]+"__"+hostile[1], map[string]any{hostile[0]: hostile[1]})),
	}
	var found int
	check := func(what string) {
		t.Helper()
		w.run(what, chromedp.Evaluate(`(window.hit ? 1000 : 0) + document.scripts.length - 2 + document.styleSheets.length - 1 + document.querySelectorAll(
			'main script, .side script, iframe, body style, base, main img, .rail img, form[action], [onerror], [onload], [onmouseover], a[href^="javascript"]').length`, &found))
		if found != 0 {
			w.shot("hostile")
			t.Errorf("%s: text became markup (%d)", what, found)
		}
	}
	w.run("all cards", chromedp.WaitReady(`//article[5]`))
	check("inbox")
	w.resize(1440, 900, "dark")
	w.run("the list beside the requests", chromedp.WaitVisible(".queued", chromedp.ByQuery))
	check("inbox on a desktop")
	w.resize(390, 844, "light")
	w.run("the sessions", chromedp.Evaluate(`location.hash = '#/sessions'`, nil), chromedp.WaitVisible(".session", chromedp.ByQuery))
	check("sessions")
	var sessions []string
	w.run("links", chromedp.Evaluate(`[...document.querySelectorAll('.session')].map((a) => a.hash)`, &sessions))
	if want := len(texts) / perSession; len(sessions) < want {
		t.Errorf("%d sessions are shown, want %d", len(sessions), want)
	}
	for _, hash := range sessions {
		w.run("session "+hash, chromedp.Evaluate(`location.hash = `+fmt.Sprintf("%q", hash), nil), chromedp.WaitReady(".timeline .ev", chromedp.ByQuery))
		check("session " + hash)
	}
	w.run("usage", chromedp.Evaluate(`location.hash = '#/usage'`, nil), chromedp.WaitVisible(".tiles", chromedp.ByQuery))
	check("usage")
	w.run("devices", chromedp.Evaluate(`location.hash = '#/devices'`, nil), chromedp.WaitVisible(".devices li", chromedp.ByQuery))
	check("devices")
	for _, text := range hostile {
		w.MustCall(wire.MethodWebDeviceRename, wire.WebDeviceParams{Device: device.ID, Name: text}, nil)
		w.run("a device called "+text, chromedp.Evaluate(`location.hash = '#/usage'`, nil), chromedp.WaitVisible(".tiles", chromedp.ByQuery),
			chromedp.Evaluate(`location.hash = '#/devices'`, nil), chromedp.WaitVisible(".devices li", chromedp.ByQuery))
		check("a device called " + text)
	}
	w.run("hidden signs", chromedp.Evaluate(`location.hash = '#/'`, nil), chromedp.WaitReady(`//article[5]`),
		chromedp.Evaluate(`[...document.getElementById('main').textContent].filter((c) => /[\u202a-\u202e\u2066-\u2069\u200b\u001b]/.test(c)).length`, &found))
	if found != 0 {
		t.Errorf("%d signs that turn text around or hide it are on the page", found)
	}
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
	var list []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, nil, &list)
	for _, one := range list {
		w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: one.ID}, nil)
	}
	for _, call := range calls {
		<-call
	}
}
