package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// A day with several agents, in every size and colour scheme. The docs' pictures are
// these (HOOKMUX_UPDATE=1 writes them), and testdata has a small one of each: the page
// must look like it, within a tolerance.
func TestPictures(t *testing.T) {
	skipWhenBusy(t) // "now" becomes a minute, and pictures differ
	w := newWorld(t)
	w.needFont("Inter")
	w.pairAs(wire.WebPairParams{Name: "Pixel 9"}, func() { w.pictures("pair") })
	w.writeUsage()
	waiting := w.busyDay()
	w.run("cards", chromedp.WaitVisible(`//article[2]`))
	w.pictures("inbox")
	w.run("the permission", chromedp.Click(`//article[2]//button[contains(., "save a permission")]`), chromedp.WaitVisible(".rule"),
		chromedp.Evaluate(`document.querySelector('article:nth-child(2)').scrollIntoView({block: 'center'})`, nil))
	w.pictures("permission")
	w.run("not now", chromedp.Click(`//article[2]//button[contains(., "Cancel")]`))
	w.run("the session", chromedp.Navigate(w.url+"/#/session/s1"), chromedp.WaitVisible(".timeline .said"), chromedp.WaitVisible("article"),
		chromedp.WaitVisible(`//span[@class="chip" and contains(., "$")]`)) // the cost comes a little later
	w.run("its end", chromedp.Evaluate(`scrollTo(0, document.documentElement.scrollHeight)`, nil))
	w.pictures("session")
	w.run("its beginning", chromedp.Evaluate(`scrollTo(0, 0)`, nil))
	w.pictures("timeline")
	w.run("usage", chromedp.Navigate(w.url+"/#/usage"), chromedp.WaitVisible(".tiles"))
	w.pictures("usage")
	w.run("devices", chromedp.Navigate(w.url+"/#/devices"), chromedp.WaitVisible(".push button, .push p"))
	w.pictures("devices")
	w.run("home", chromedp.Navigate(w.url+"/#/"), chromedp.WaitVisible(`//article[2]`))
	w.denyAll(waiting)
	w.run("nothing waits", chromedp.WaitVisible(".empty"))
	w.pictures("empty")
	said := w.ask(claude("ExitPlanMode", map[string]any{"plan": "# Cart totals\n\n1. Add `Money`, which knows its currency\n2. Use it in **every** total\n   - orders\n   - refunds\n3. Keep the old field for a release\n\nThen run the tests."}))
	w.run("the plan", chromedp.WaitVisible(".plan-h"))
	w.pictures("plan")
	w.denyAll([]chan string{said})
	said = w.ask(question())
	w.run("the question", chromedp.WaitVisible(`//label[contains(., "SQLite")]`), chromedp.Click(`//label[contains(., "SQLite")]`))
	w.pictures("question")
	w.denyAll([]chan string{said})
}

func question() frame.Request {
	return claude("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which database should the shop use?",
		"header": "Database", "multiSelect": false, "options": []any{map[string]any{"label": "PostgreSQL", "description": "One more service, and no limits"},
			map[string]any{"label": "SQLite", "description": "One file, enough for one shop"}}}}})
}

// busyDay has several agents at work, two of which wait.
func (w *world) busyDay() []chan string {
	w.T.Helper()
	project := map[string]string{"claude": "/home/you/shop", "codex": "/home/you/api", "gemini": "/home/you/docs", "opencode": "/home/you/mobile"}
	tell := func(agent, session, event string, more map[string]any) {
		w.T.Helper()
		body := map[string]any{"session_id": session, "hook_event_name": event, "cwd": project[agent], "model": "claude-opus-5-5"}
		for k, v := range more {
			body[k] = v
		}
		b, _ := json.Marshal(body)
		if _, err := w.TrySend(frame.Request{Agent: agent, Event: event, Payload: b, Cwd: project[agent], Deadline: time.Second}); err != nil {
			w.T.Fatal(err)
		}
	}
	call := func(session, id, tool string, input, output any) {
		tell("claude", session, "PreToolUse", map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": id})
		tell("claude", session, "PostToolUse", map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": output})
	}
	tell("claude", "s-2", "UserPromptSubmit", map[string]any{"prompt": "Write the changelog for 2.4"})
	tell("claude", "s-2", "Stop", map[string]any{"last_assistant_message": "The changelog has 14 entries, sorted by what users notice."})
	tell("gemini", "g-1", "BeforeAgent", map[string]any{"prompt": "Translate the guide into German"})
	tell("codex", "c-1", "UserPromptSubmit", map[string]any{"prompt": "Add pagination to the orders endpoint"})
	tell("claude", "s1", "UserPromptSubmit", map[string]any{"prompt": "Fix the rounding of cart totals"})
	call("s1", "c1", "Read", map[string]any{"file_path": "/home/you/shop/src/cart.ts"}, map[string]any{})
	call("s1", "c2", "Grep", map[string]any{"pattern": "Math.round", "path": "/home/you/shop/src"}, map[string]any{})
	answer := func(r frame.Request, choose wire.InboxReplyParams) {
		w.T.Helper()
		said := w.ask(r)
		one := w.waiting()
		choose.ID, choose.SHA256 = one.ID, one.SHA256
		w.MustCall(wire.MethodInboxReply, choose, nil)
		<-said
	}
	answer(bash("git push --force origin main"), wire.InboxReplyParams{Choice: "deny", Reason: "Open a pull request instead."})
	call("s1", "c3", "Bash", map[string]any{"command": "git switch -c cart-totals"}, map[string]any{"stdout": ""})
	answer(bash("npm test -- --grep 'cart total'"), wire.InboxReplyParams{Choice: "once"})
	one := w.ask(bash("rm -rf build && npm test -- --grep \"cart total\" | tee test.log"))
	w.run("the first", chromedp.WaitVisible("article"))
	two := w.ask(claude("Edit", map[string]any{"file_path": "/home/you/shop/src/cart.ts",
		"old_string": "export function total(items) {\n  const total = items.reduce((sum, i) => sum + i.price * i.count, 0)\n  return Math.round(total * 100) / 100\n}",
		"new_string": "export function total(items) {\n  const cents = items.reduce((sum, i) => sum + toCents(i.price) * i.count, 0)\n  return cents / 100\n}"}))
	return []chan string{one, two}
}

// writeUsage leaves records of a week, as Claude Code writes them, and sets a budget.
func (w *world) writeUsage() {
	w.T.Helper()
	var b bytes.Buffer
	for back, tokens := range []int{410_000, 880_000, 260_000, 0, 640_000, 1_150_000, 520_000} {
		for i, project := range []string{"shop", "api"} {
			at := time.Now().AddDate(0, 0, -back).UTC().Format(time.RFC3339)
			fmt.Fprintf(&b, `{"type":"assistant","timestamp":%q,"sessionId":"s1","requestId":"r%d-%d","cwd":"/home/you/%s",`+
				`"message":{"id":"m%d-%d","model":"claude-opus-4-6","usage":{"input_tokens":%d,"output_tokens":%d,`+
				`"cache_creation_input_tokens":0,"cache_read_input_tokens":%d}}}`+"\n", at, back, i, project, back, i, tokens/(8+9*i), tokens/(20+9*i), tokens*2)
		}
	}
	w.Write(filepath.Join(w.Dirs.Home, ".claude/projects/-home-you-shop/s1.jsonl"), b.String())
	w.MustCall(wire.MethodBudgetAdd, wire.BudgetParams{Budget: " day=40usd ask=80% block=100%"}, nil)
}

// waiting is the one request that waits.
func (w *world) waiting() wire.InboxRequest {
	w.T.Helper()
	var list []wire.InboxRequest
	w.Eventually("a request waits", func() bool {
		w.MustCall(wire.MethodInboxItems, nil, &list)
		return len(list) == 1
	})
	return list[0]
}

// denyAll denies what waits.
func (w *world) denyAll(calls []chan string) {
	w.T.Helper()
	var list []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, nil, &list)
	for _, one := range list {
		w.MustCall(wire.MethodInboxReply, wire.InboxReplyParams{ID: one.ID, SHA256: one.SHA256, Choice: "deny"}, nil)
	}
	for _, call := range calls {
		<-call
	}
	w.run("they're gone", chromedp.WaitNotPresent("article"))
}

// needFont skips a test whose pictures depend on a font that isn't here.
func (w *world) needFont(name string) {
	w.T.Helper()
	var here bool
	w.run("the font", chromedp.Navigate("about:blank"), chromedp.Evaluate(fmt.Sprintf(`(() => { const width = (f) => { const c = document.createElement('canvas').getContext('2d');
		c.font = '40px ' + f; return c.measureText('The quick brown fox jumps 0123').width }; return width('"%s", monospace') !== width('monospace') })()`, name), &here))
	if !here {
		w.T.Skipf("the font %s isn't installed (fonts-inter), and pictures depend on it", name)
	}
}

// inDocs are the pictures that README and docs show.
var inDocs = map[string]string{"inbox-390-light": "web-inbox", "inbox-1440-dark": "web-desktop", "session-390-dark": "web-session"}

// pictures takes a picture in every size and colour scheme and compares it.
func (w *world) pictures(name string) {
	w.T.Helper()
	for _, width := range []int64{390, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			height := int64(844)
			if width == 1440 {
				height = 900
			}
			w.resize(width, height, scheme)
			var b []byte
			w.run("a picture", settled(), chromedp.CaptureScreenshot(&b))
			w.compare(fmt.Sprintf("%s-%d-%s", name, width, scheme), b)
		}
	}
	w.resize(390, 844, "light")
}

// settled waits until nothing moves and no message covers the page.
func settled() chromedp.Action {
	return chromedp.Poll(`document.getElementById('toast').hidden && document.getAnimations().every((a) => a.playState === 'finished' || a.effect.getTiming().iterations === Infinity)`, nil)
}

// A picture may differ from the kept one in so much brightness on average, and in so many
// of its cells by more than a little.
const (
	cell       = 10   // pixels of a side that become one
	meanOff    = 3.0  // of 255
	cellOff    = 40.0 // of 255
	cellsOff   = 0.02 // of all cells
	picturesIn = "testdata/pictures"
)

// projectRoot is the folder of the whole project.
func projectRoot(t *testing.T) string {
	t.Helper()
	for dir := "."; len(dir) < 64; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "docs/pictures")); err == nil {
			return dir
		}
	}
	t.Fatal("no folder docs/pictures above")
	return ""
}

func (w *world) compare(name string, picture []byte) {
	w.T.Helper()
	if dir := os.Getenv("HOOKMUX_SHOTS"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600)
	}
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		w.T.Fatal(err)
	}
	small := shrink(full)
	file := filepath.Join(picturesIn, name+".png")
	if os.Getenv("HOOKMUX_UPDATE") == "1" {
		var b bytes.Buffer
		if err := png.Encode(&b, small); err != nil {
			w.T.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			w.T.Fatal(err)
		}
		if doc := inDocs[name]; doc != "" {
			if err := os.WriteFile(filepath.Join(projectRoot(w.T), "docs/pictures", doc+".png"), picture, 0o644); err != nil {
				w.T.Fatal(err)
			}
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		w.T.Fatal(err)
	}
	kept, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		w.T.Fatal(err)
	}
	if kept.Bounds() != small.Bounds() {
		w.T.Errorf("%s is %v, was %v", name, small.Bounds(), kept.Bounds())
		return
	}
	var sum float64
	far, cells := 0, 0
	for y := range small.Bounds().Dy() {
		for x := range small.Bounds().Dx() {
			off := distance(small.At(x, y), kept.At(x, y))
			sum += off
			cells++
			if off > cellOff {
				far++
			}
		}
	}
	if mean, part := sum/float64(cells), float64(far)/float64(cells); mean > meanOff || part > cellsOff {
		w.T.Errorf("%s looks different: %.1f of 255 on average, %.1f%% of it clearly; HOOKMUX_UPDATE=1 accepts it, "+
			"HOOKMUX_SHOTS=FOLDER keeps the pictures", name, mean, part*100)
	}
}

// shrink makes one pixel of each cell.
func shrink(from image.Image) *image.RGBA {
	size := from.Bounds().Size().Div(cell)
	to := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sum [3]uint32
			for dy := range cell {
				for dx := range cell {
					r, g, b, _ := from.At(x*cell+dx, y*cell+dy).RGBA()
					sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
				}
			}
			const n = cell * cell
			to.Set(x, y, color.RGBA{R: uint8(sum[0] / n), G: uint8(sum[1] / n), B: uint8(sum[2] / n), A: 255})
		}
	}
	return to
}

// distance is how far two colours are apart, of 255.
func distance(a, b color.Color) float64 {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	off := func(x, y uint32) float64 {
		return max(float64(x>>8), float64(y>>8)) - min(float64(x>>8), float64(y>>8))
	}
	return max(off(ar, br), off(ag, bg), off(ab, bb))
}
