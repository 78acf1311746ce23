package browsertest

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// builtFleet is the program that serves a fleet.
var builtFleet = programs.Shared{Options: programs.Options{Names: []string{"hookmux-fleet"}}}

// startFleet starts a server for daemons that aren't up yet, and makes each a member by its
// name, in a role or else as an operator.
func startFleet(t *testing.T, members map[string]*daemontest.Bench, roles map[string]string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	key, err := nkeys.CreateAccount()
	must(err)
	fleet, _ := key.PublicKey()
	seed, _ := key.Seed()
	must(os.WriteFile(filepath.Join(dir, "fleet.key"), seed, 0o600))
	var roster []protocol.Signed
	own := map[string]map[string]any{}
	for name := range members {
		user, err := nkeys.CreateUser()
		must(err)
		seed, _ := user.Seed()
		public, _ := user.PublicKey()
		signed, err := protocol.Sign(key, protocol.Record{Fleet: fleet, ID: protocol.MemberID(public), Name: name,
			Role: cmp.Or(roles[name], protocol.RoleOperator), Key: public, Joined: time.Now()})
		must(err)
		roster = append(roster, signed)
		own[name] = map[string]any{"fleet": fleet, "seed": seed, "record": signed}
	}
	text, _ := json.Marshal(roster)
	must(os.WriteFile(filepath.Join(dir, "roster.json"), text, 0o600))
	server := exec.Command(filepath.Join(builtFleet.Folder(t), "hookmux-fleet"), "serve", "--dir", dir, "--listen", "127.0.0.1:0")
	must(server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	var at struct {
		Listen string `json:"listen"`
		Pin    []byte `json:"pin"`
	}
	await.Until(t, "the fleet's server is up", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "server.json"))
		return err == nil && json.Unmarshal(text, &at) == nil
	})
	for name, bench := range members {
		own[name]["servers"], own[name]["pin"] = []string{at.Listen}, at.Pin
		must(sealed.Store(bench.Dirs.State, "fleet.json", own[name]))
		bench.Up()
	}
}

// The page of one machine shows every machine of its fleet: their sessions with their names,
// those of one machine if you choose it, and their requests, which you answer there.
func TestEveryMachineInChromium(t *testing.T) {
	findBrowser(t)
	desk, box := daemontest.New(t, newDaemon), daemontest.Another(t, newDaemon)
	startFleet(t, map[string]*daemontest.Bench{"desk": desk, "build-box": box}, nil)
	w := &world{Bench: desk, T: t, call: desk.Call, patience: daemontest.Patience}
	w.servePage()
	w.startBrowser()
	w.pair()
	for bench, prompt := range map[*daemontest.Bench]string{desk: "Fix the cart", box: "Build the release"} {
		body, _ := json.Marshal(map[string]any{"session_id": "s-" + prompt[:3], "hook_event_name": "UserPromptSubmit", "cwd": "/home/you/shop", "prompt": prompt})
		if _, err := bench.TrySend(frame.Request{Agent: "claude", Event: "UserPromptSubmit", Payload: body, Deadline: daemontest.Patience}); err != nil {
			t.Fatal(err)
		}
	}
	session := func(title string) string { return `//a[contains(@class, "session") and contains(., "` + title + `")]` }
	w.run("both machines' sessions", chromedp.Click("#nav-sessions", chromedp.ByQuery), chromedp.WaitVisible(session("Fix the cart")),
		chromedp.WaitVisible(session("Build the release")+`//span[@class="host" and .="build-box"]`))
	w.audit("several machines")
	w.run("one machine", chromedp.Click(`//button[contains(@class, "chip") and .="build-box"]`), chromedp.WaitNotPresent(session("Fix the cart")),
		chromedp.WaitVisible(session("Build the release")))
	w.run("this one", chromedp.Click(`//button[contains(@class, "chip") and .="This machine"]`), chromedp.WaitNotPresent(session("Build the release")),
		chromedp.WaitVisible(session("Fix the cart")))
	w.run("the inbox", chromedp.Click("#nav-home", chromedp.ByQuery), chromedp.WaitVisible(".home", chromedp.ByQuery))

	far := &world{Bench: box, T: t}
	said := far.ask(bash("make release"))
	w.run("the other machine's request", chromedp.WaitVisible(`//article[.//span[@class="host" and .="build-box"]]//pre[contains(., "make release")]`))
	w.run("answer it", chromedp.Click(button("Approve")))
	far.hears(said, `"allow"`)
	w.run("it's gone", chromedp.WaitNotPresent("article", chromedp.ByQuery))
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
}

// The page of a machine that may only look says so of the others, and has no button that answers
// there.
func TestReadOnlyMachineInChromium(t *testing.T) {
	findBrowser(t)
	desk, box := daemontest.New(t, newDaemon), daemontest.Another(t, newDaemon)
	startFleet(t, map[string]*daemontest.Bench{"desk": desk, "build-box": box}, map[string]string{"desk": protocol.RoleReader})
	w := &world{Bench: desk, T: t, call: desk.Call, patience: daemontest.Patience}
	w.servePage()
	w.startBrowser()
	w.pair()
	looks := box.Dial() // somebody at the other machine
	defer looks.Close()
	if _, err := looks.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + wire.MethodInboxStream + `"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	box.Eventually("somebody can answer there", func() bool {
		var info wire.Info
		return box.Call(wire.MethodInfo, nil, &info) == nil && info.Inbox.CanAnyoneAnswer
	})
	far := &world{Bench: box, T: t}
	_ = far.ask(bash("make release"))
	card := `//article[contains(., "make release") and contains(., "build-box is read-only from here: answer it there")]`
	w.run("the other machine's request", chromedp.WaitVisible(card), chromedp.WaitNotPresent(button("Approve")))
	w.audit("a machine that is read-only")
	w.run("its session", chromedp.Click("#nav-sessions", chromedp.ByQuery),
		chromedp.WaitVisible(`//a[contains(@class, "session") and contains(., "Answer it there")]//span[@class="host" and .="build-box (read-only)"]`))
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
}
