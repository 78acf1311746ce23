package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// binding is one key: what it does, and where.
type binding struct {
	keys     []string
	name     string // as it is shown
	does     string // a word or two
	help     string // more of them, for the help; "" for the same
	group    keyGroup
	when     func(m *Model) bool
	run      func(m *Model) tea.Cmd
	decides  bool // it asks the daemon for something, so the daemon must be there
	approves bool // it says yes, so all of the request must have been shown
	refuses  bool // it says no
	always   bool // it works everywhere, so only the help shows it
	// told reports whether a key that works everywhere is shown all the same.
	told func(m *Model) bool
	dim  bool // it would do nothing yet
}

// digitKeys are the digits that answer a question.
const digitKeys = "1–9"

// digitNames returns the digits of so many options.
func digitNames(options int) string {
	if options < 2 {
		return "1"
	}
	return fmt.Sprintf("1–%d", min(options, 9))
}

// hidden keeps a key out of the help: another line says it.
const hidden = "-"

func (b *binding) helpText() string {
	if b.help != "" {
		return b.help
	}
	return b.does
}

// keyGroup names the purpose of a key.
type keyGroup string

// The groups, as the help shows them.
const (
	groupAnswer  keyGroup = "Answer"
	groupSession keyGroup = "Session"
	groupView    keyGroup = "View"
	groupHookmux keyGroup = "hookmux"
)

var keyGroups = []keyGroup{groupAnswer, groupSession, groupView, groupHookmux}

// bindings returns the keys of the list, in the order in which they are shown.
func bindings() []binding {
	choose := func(choice string) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.approve(choice) }
	}
	move := func(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.moveBy(n) } }
	scroll := func(pages int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.scrollBy(pages) } }
	keys := func(names ...string) []string { return names }
	var list []binding
	group := func(g keyGroup, more ...binding) {
		for _, b := range more {
			b.group = g
			list = append(list, b)
		}
	}
	group(groupAnswer,
		binding{keys: keys("a", "enter"), name: "a", does: "answer …", help: hidden, when: opensElsewhere, run: answerElsewhere},
		binding{keys: keys("a"), name: "a", does: "approve", when: offers("once"), run: choose("once"), decides: true, approves: true},
		binding{keys: keys("a"), name: "a", does: "accept", help: "accept the plan", when: offers("accept"), run: choose("accept"), decides: true, approves: true},
		binding{keys: keys("u"), name: "u", does: "accept, allow edits", help: "accept, allow all edits", when: offers("auto"), run: choose("auto"), decides: true, approves: true},
		binding{keys: keys("m"), name: "m", does: "accept and review", help: "accept and review each edit", when: offers("manual"), run: choose("manual"), decides: true, approves: true},
		binding{keys: keys("1", "2", "3", "4", "5", "6", "7", "8", "9"), name: digitKeys, does: "answer", help: "pick that answer", when: offersDigits, run: answerByDigit, decides: true, approves: true},
		binding{keys: keys("enter"), name: "Enter", does: "choose …", help: "choose, or type an answer", when: offers("answer"), run: answerQuestions, decides: true, approves: true},
		binding{keys: keys("d"), name: "d", does: "deny …", help: "deny", when: offers("deny"), run: denyRequest, decides: true, refuses: true},
		binding{keys: keys("d"), name: "d", does: "send back …", help: "send the plan back", when: offers("reject"), run: denyRequest, decides: true, refuses: true},
		binding{keys: keys("A"), name: "A", does: "always …", help: "always allow, asks first", when: offersAlways, run: approveAlways, decides: true, approves: true},
		binding{keys: keys("S"), name: "S", does: "agent's rule …", help: "save the agent's own rule", when: offersOwnRule, run: approveByOwnRule, decides: true, approves: true},
		binding{keys: keys("space", "pgdown", "enter"), name: "Space", does: "read on", when: always, run: scroll(1), always: true, told: hasMore},
		binding{keys: keys("B"), name: "B", does: "approve several …", when: canBatch, run: openBatch, decides: true},
		binding{keys: keys("r"), name: "r", does: "skip", help: "skip: the agent asks you", when: canSkip, run: skipRequest, decides: true},
	)
	group(groupSession,
		binding{keys: keys("g"), name: "g", does: "jump", help: "jump to its terminal", when: hasSession, run: jumpThere},
		binding{keys: keys("enter"), name: "Enter", help: hidden, when: isSidebarSession, run: jumpThere, always: true},
		binding{keys: keys("s"), name: "s", does: "prompt …", help: "send its next prompt", when: takesText, run: sendText, decides: true},
		binding{keys: keys("c"), name: "c", does: "resume", help: "resume it", when: canResume, run: resumeSession, decides: true},
		binding{keys: keys("G"), name: "G", does: "allow once …", help: "allow once what was blocked", when: wasStopped, run: allowOnce, decides: true},
		binding{keys: keys("n"), name: "n", does: "new …", help: "start an agent", when: always, run: openStart, always: true, told: offersStart},
		binding{keys: keys("R"), name: "R", does: "rename", when: hasSession, run: renameSession, decides: true, always: true},
		binding{keys: keys("F"), name: "F", does: "forget", help: "forget it", when: hasSession, run: forgetSession, decides: true, always: true},
	)
	group(groupView,
		binding{keys: keys("down", "j"), name: "↑ ↓", does: "move", when: always, run: move(1), always: true},
		binding{keys: keys("up", "k"), name: "↑ ↓", does: "move", help: hidden, when: always, run: move(-1), always: true},
		binding{keys: keys("tab", "N"), name: "Tab", does: "next waiting", help: "next one waiting", when: always, run: nextWaiting, always: true, told: isElsewhere},
		binding{keys: keys("home"), name: "Home", does: "first", help: hidden, when: always, run: move(-1 << 20), always: true},
		binding{keys: keys("end"), name: "End", does: "last", help: hidden, when: always, run: move(1 << 20), always: true},
		binding{keys: keys("b", "pgup"), name: "b", does: "page back", when: always, run: scroll(-1), always: true},
		binding{keys: keys("/"), name: "/", does: "filter", help: "filter; Esc clears it", when: always, run: startFilter, always: true, told: isCrowded},
		binding{keys: keys("esc"), name: "Esc", does: "show all", help: hidden, when: always, run: clearFilter, always: true, told: isFiltered},
		binding{keys: keys("h"), name: "h", does: "history", help: "history: answered, ended", when: always, run: toggleHistory, always: true},
		binding{keys: keys("?"), name: "?", does: "keys", help: "this help", when: always, run: showHelp, always: true},
		binding{keys: keys("q", "ctrl+c"), name: "q", does: "quit", when: always,
			run: func(*Model) tea.Cmd { return tea.Quit }, always: true},
		binding{keys: keys("ctrl+z"), name: "Ctrl-Z", does: "suspend", when: always,
			run: func(*Model) tea.Cmd { return tea.Suspend }, always: true},
	)
	group(groupHookmux,
		binding{keys: keys("p"), name: "p", does: "problems", when: always, run: showProblems, always: true, told: (*Model).hasProblems},
		binding{keys: keys("w"), name: "w", does: "away", help: "away: agents wait", when: (*Model).isHere, run: goAway, decides: true, always: true},
		binding{keys: keys("w"), name: "w", does: "I'm back", help: "back", when: (*Model).isAway, run: comeBack, decides: true, always: true, told: always},
		binding{keys: keys("O"), name: "O", does: "turn off …", when: (*Model).isOn, run: switchOff, decides: true, always: true},
		binding{keys: keys("O"), name: "O", does: "turn on", when: (*Model).isOff, run: switchOn, decides: true, always: true, told: always},
	)
	return list
}

func always(*Model) bool { return true }

// offers reports whether the selected request can be answered with a choice.
func offers(choice string) func(*Model) bool {
	return func(m *Model) bool {
		item := m.pendingRequest()
		return item != nil && slices.Contains(item.Choices, choice)
	}
}

// offersDigits reports whether one digit answers the selected request.
func offersDigits(m *Model) bool {
	return offers("answer")(m) && isQuick(m.pendingRequest().Questions)
}

// offersStart reports whether the keys at the bottom should include the one that starts an
// agent: if there is nothing else to do, or there is room.
func offersStart(m *Model) bool {
	return m.canStart() && !m.opts.Sidebar && (m.pendingRequest() == nil || m.width >= sideBySide)
}

func isFiltered(m *Model) bool { return m.filter != "" }

// isCrowded reports whether there are more rows than you see at a glance, or room for the key.
func isCrowded(m *Model) bool {
	return m.filter == "" && (len(m.list.rows) > 8 || len(m.list.rows) > 1 && m.width >= sideBySide)
}

// opensElsewhere reports whether the selected request is shown in full somewhere else.
func opensElsewhere(m *Model) bool {
	r := m.selectedRow()
	return m.opts.Sidebar && m.opts.Answer != nil && r != nil && r.request != nil && !isWindow(r.request)
}

// answerElsewhere shows the request in full: a sidebar has no room for it.
func answerElsewhere(m *Model) tea.Cmd {
	return func() tea.Msg {
		if err := m.opts.Answer(m.ctx); err != nil {
			return outcomeMsg{text: errorText(err), aside: true}
		}
		return nil
	}
}

func offersAlways(m *Model) bool { return offers("always")(m) && m.pendingRequest().Rule != "" }
func canSkip(m *Model) bool {
	item := m.pendingRequest()
	return item != nil && !isWindow(item)
}

// hasMore reports whether there is more to read: of a request, before it can be approved.
func hasMore(m *Model) bool {
	if m.pendingRequest() != nil {
		return m.shown.unread() > 0
	}
	return m.hiddenLines() > 0
}

// isSidebarSession reports whether a sidebar's row is a session alone: there's nothing to open.
func isSidebarSession(m *Model) bool { return m.opts.Sidebar && hasSession(m) }

func hasSession(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.session != nil
}

// takesText reports whether the selected session takes typed text. A text typed into a
// terminal that waits for a yes could be that yes.
func takesText(m *Model) bool {
	r := m.selectedRow()
	return r != nil && !m.opts.Sidebar && r.isSession() && r.session.Ended == nil && r.section != sectionWaiting
}

// pressedKey is the key that was pressed last.
type pressedKey struct {
	key    string
	at     time.Time
	held   bool // it came as fast as a key that is held down repeats
	sent   bool // another key came right before: a terminal sends text like that, no one types it
	doubt  int  // how often a key was kept back, to see whether it repeats
	behind *keptKey
}

// keptKey is a key that does what it means only once it's clear that it isn't held down.
type keptKey struct {
	msg      tea.KeyPressMsg
	at       time.Time // when it was pressed: what appeared later isn't what it was meant for
	mode     mode
	selected string
}

// A keyboard waits up to repeatTime before a key that is held down repeats, and then repeats it
// within quietTime. So a key that comes again later than quietTime and sooner than repeatTime
// may be either: it is held back for quietTime.
const (
	repeatTime = 700 * time.Millisecond
	quietTime  = 150 * time.Millisecond
)

// quietMsg says that the key that was kept back wasn't pressed again within quietTime.
type quietMsg struct{ doubt int }

// burstTime is shorter than it takes to press two keys one after the other. A program
// that may write to a terminal can have it send text as if it was typed, such as its
// name (ENQ, answered with "PuTTY").
const burstTime = 20 * time.Millisecond

const burstText = "Keys came faster than anyone types, so nothing was answered. Press the key again."

const heldText = "The key was held down or pressed twice, so nothing was answered. Press it once."

func (m *Model) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	now, before := m.opts.Now(), m.pressed
	again, gap := before.key == key, now.Sub(before.at)
	m.pressed = pressedKey{key: key, at: now, doubt: before.doubt,
		held: again && gap < quietTime, sent: before.key != "" && !again && gap < burstTime}
	var first tea.Cmd
	if before.behind != nil && (again && gap >= quietTime || !again && gap >= burstTime) {
		first = m.handleKept(before.behind) // it didn't repeat, and its clock is late
	}
	if again && gap >= quietTime && gap < repeatTime && m.decides(key) {
		m.pressed.doubt++
		m.pressed.behind = &keptKey{msg, now, m.mode, m.selected}
		n := m.pressed.doubt
		return tea.Batch(first, m.tick(quietTime, func(time.Time) tea.Msg { return quietMsg{n} }))
	}
	return tea.Batch(first, m.handleKeyNow(msg, now))
}

// handleQuiet does what a key means that was kept back and didn't repeat.
func (m *Model) handleQuiet(msg quietMsg) tea.Cmd {
	kept := m.pressed.behind
	if kept == nil || msg.doubt != m.pressed.doubt {
		return nil
	}
	m.pressed.behind = nil
	return m.handleKept(kept)
}

func (m *Model) handleKept(kept *keptKey) tea.Cmd {
	if m.mode != kept.mode || m.selected != kept.selected {
		return nil
	}
	return m.handleKeyNow(kept.msg, kept.at)
}

// decides reports whether a key would send the daemon something here.
func (m *Model) decides(key string) bool {
	switch m.mode {
	case modeConfirm:
		return key == m.confirm.yes
	case modeBatch:
		return key == "B"
	case modeForm:
		return key == "enter" || isQuick(m.form.questions) && len(key) == 1 && strings.Contains(optionKeys, key)
	case modeList:
		return slices.ContainsFunc(bindings(), func(b binding) bool {
			return b.decides && slices.Contains(b.keys, key) && b.when(m)
		})
	}
	return false
}

// handleKeyNow does what a key means where the view is.
func (m *Model) handleKeyNow(msg tea.KeyPressMsg, pressed time.Time) tea.Cmd {
	key := msg.String()
	m.keyAt = pressed
	if m.wasArmed = ""; pressed.Sub(m.armedAt) < statusTime { // the line that says so is still there
		m.wasArmed = m.armed
	}
	m.armed = ""
	switch m.mode {
	case modeTyping:
		return handleTypingKey(m, msg, key)
	case modeConfirm:
		return handleConfirmKey(m, key)
	case modeForm:
		return handleFormKey(m, key)
	case modeBatch:
		return handleBatchKey(m, key)
	case modePage:
		return handlePageKey(m, key)
	case modeStart:
		return handleStartKey(m, msg, key)
	}
	m.status = ""
	for _, b := range bindings() {
		if !slices.Contains(b.keys, key) || !b.when(m) {
			continue
		}
		if b.decides && m.problem != "" {
			m.status = silentText
			return nil
		}
		if b.decides && m.pressed.sent {
			m.status = burstText
			return nil
		}
		return b.run(m)
	}
	m.status = whyNoAnswer(m, key)
	return nil
}

// whyNoAnswer says why a key that answers requests does nothing here; "" for any
// other key.
func whyNoAnswer(m *Model, key string) string {
	answers := slices.ContainsFunc(bindings(), func(b binding) bool {
		return b.decides && !b.always && slices.Contains(b.keys, key)
	})
	r := m.selectedRow()
	switch {
	case !answers || r == nil:
		return ""
	case m.opts.Sidebar && r.request != nil && !isWindow(r.request) && m.opts.Answer == nil:
		return "A sidebar shows no request in full; answer it in `hookmux up`."
	case m.opts.Sidebar && r.request != nil && !isWindow(r.request):
		return "A sidebar shows no request in full; a opens it."
	case m.pendingRequest() != nil:
		return whyNotThisKey(m.pendingRequest(), key)
	case key == "s" && r.section != sectionWaiting && r.isSession() && r.session.Ended != nil:
		return "This session has ended, so it takes no prompt."
	case r.section == sectionWaiting:
		return "The agent asks this in its own terminal; g takes you there."
	case isElsewhere(m):
		return "Nothing is asked here. Tab goes to the next one that waits for you."
	}
	return "Nothing is asked here."
}

// whyNotThisKey says why a key doesn't answer a request.
func whyNotThisKey(item *wire.InboxRequest, key string) string {
	switch {
	case key == "s":
		return "It's waiting for your answer; answer it first."
	case key == "B":
		return "B needs at least two harmless requests."
	case key == "A" && slices.Contains(item.Choices, "always") && item.NoRule != "":
		return "No permission can be saved for this call: " + termsafe.Line(item.NoRule, 0)
	case len(key) == 1 && strings.Contains(optionKeys, key):
		return "This has no numbered answers; ? shows the keys."
	case key == "c" || key == "G":
		return "It's waiting for your answer, so " + key + " does nothing yet."
	}
	return key + " isn't among the answers to this " + kindOf(item).word + "; ? shows the keys."
}

// isElsewhere reports whether something other than the selected row needs the user.
func isElsewhere(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.section != sectionWaiting && frame{m}.countWaiting() > 0
}

// handleConfirmKey takes the key that says yes once all of the question was on the screen for
// a while; the first press of a key that repeats is ignored.
func handleConfirmKey(m *Model, key string) tea.Cmd {
	c := m.confirm
	switch {
	case key != c.yes:
		m.mode, m.status = modeList, "Nothing was done."
		if key == "esc" {
			m.status = ""
		}
		return nil
	case m.keyAt.Sub(c.since) < settleTime || m.pressed.held:
		return nil
	case len(frame{m}.confirmLines(m.popupRoom().width)) > m.popupRoom().height:
		m.status = "The window is too small to show all of it."
		return nil
	}
	m.mode = modeList
	return c.run(m)
}

func handleTypingKey(m *Model, msg tea.KeyPressMsg, key string) tea.Cmd {
	t := m.typing
	switch key {
	case "esc":
		m.mode = modeBehindTyping(m)
		if t.live != nil {
			t.live(m, "")
		}
		return nil
	case "enter":
		m.mode = modeBehindTyping(m)
		return t.done(m, strings.TrimSpace(m.typing.input.value()))
	}
	m.typing.input.handleKey(msg)
	tellTyping(m)
	return nil
}

// handlePaste takes pasted text where text is typed, and nowhere else: pasted
// letters are never keys.
func handlePaste(m *Model, msg tea.PasteMsg) tea.Cmd {
	if m.mode == modeStart && m.starting.at > 0 {
		m.starting.inputs[m.starting.at-1].insertText(msg.Content)
	}
	if m.mode != modeTyping {
		return nil
	}
	m.typing.input.insertText(msg.Content)
	tellTyping(m)
	return nil
}

// tellTyping passes on what is typed, if each letter matters.
func tellTyping(m *Model) {
	if m.typing.live != nil {
		m.typing.live(m, m.typing.input.value())
	}
}

func modeBehindTyping(m *Model) mode {
	if m.form != nil {
		return modeForm
	}
	return modeList
}

// startTyping has a text typed: does says what Enter makes of it.
func (m *Model) startTyping(title, label, value, does string, done func(m *Model, text string) tea.Cmd) {
	m.mode, m.typing = modeTyping, typing{title: title, label: label, does: does, input: newLineInput(value), done: done}
}

func (m *Model) moveBy(n int) tea.Cmd {
	m.moved = true
	m.selectRow(min(max(m.selectedIndex()+n, 0), len(m.list.rows)-1))
	return nil
}

// nextWaiting goes to the next row that needs the user, from the top again after
// the last.
func nextWaiting(m *Model) tea.Cmd {
	m.moved = false
	at := m.selectedIndex()
	for n := range len(m.list.rows) {
		i := (at + 1 + n) % len(m.list.rows)
		if m.list.rows[i].section == sectionWaiting {
			m.selectRow(i)
			return nil
		}
	}
	m.status = "No one is waiting for you."
	return nil
}

// scrollBy moves the details by pages.
func (m *Model) scrollBy(pages int) tea.Cmd {
	m.scrollLines(pages * max(1, m.layout().detail.height-1))
	return nil
}

// scrollLines moves the details by lines. Parts of a request that weren't drawn yet aren't
// scrolled past.
func (m *Model) scrollLines(n int) {
	m.moved = true
	place := m.layout().detail
	to := min(max(m.scroll+n, 0), max(0, m.page(place.width).length()-place.height))
	if n > 0 && m.pendingRequest() != nil {
		to = max(m.scroll, min(to, m.shown.furthest(m.opts.Now())+len(m.page(place.width).head)))
	}
	m.scroll = to
}

func handleWheel(m *Model, msg tea.MouseWheelMsg) {
	if m.mode != modeList {
		return // what a dialog is about stays on the screen
	}
	step := 3
	if msg.Button == tea.MouseWheelUp {
		step = -3
	}
	if m.layout().detail.contains(msg.X, msg.Y) {
		m.scrollLines(step)
		return
	}
	m.moveBy(step / 3)
}

// handleClick selects a row; nothing is ever decided by a click.
func handleClick(m *Model, msg tea.MouseClickMsg) {
	place := m.layout().list
	if m.mode != modeList || !place.contains(msg.X, msg.Y) {
		return
	}
	lines, _ := frame{m}.shownLines(place.height)
	i := msg.Y - place.top
	switch {
	case i >= len(lines):
	case lines[i].row >= 0:
		m.moved = true
		m.selectRow(lines[i].row)
	case lines[i].more > 0:
		nextWaiting(m)
	}
}

func startFilter(m *Model) tea.Cmd {
	m.startTyping("Filter", "", m.filter, "keep", func(*Model, string) tea.Cmd { return nil })
	m.typing.inline = true
	m.typing.live = func(m *Model, text string) { m.filter = text }
	return nil
}

func clearFilter(m *Model) tea.Cmd {
	m.filter = ""
	return nil
}

func showHelp(m *Model) tea.Cmd {
	m.openPage("Keys", helpLines(m.popupRoom().width))
	return nil
}

// jumpThere shows you the session's pane.
func jumpThere(m *Model) tea.Cmd {
	session := m.selectedRow().session
	if m.opts.Jump == nil {
		return nil
	}
	return func() tea.Msg {
		said, err := m.opts.Jump(m.ctx, session)
		if err != nil {
			return outcomeMsg{text: errorText(err), aside: true}
		}
		return outcomeMsg{text: termsafe.Line(said, 0), aside: true}
	}
}

func sendText(m *Model) tea.Cmd {
	session := m.selectedRow().session
	m.startTyping("Prompt "+termsafe.Line(session.Agent, 20), "It gets this as its next prompt.", "", "send",
		func(m *Model, text string) tea.Cmd {
			if text == "" {
				m.status = "Nothing was sent."
				return nil
			}
			return m.decide(func(ctx context.Context, _ string) (string, error) {
				sent, err := m.opts.Daemon.SendToSession(ctx, session.ID, text, true)
				if err != nil {
					return "", err
				}
				return sentText(sent), nil
			})
		})
	return nil
}

func renameSession(m *Model) tea.Cmd {
	session := m.selectedRow().session
	m.startTyping("Rename", "Leave it empty to use the agent's own title.", session.Title, "rename", func(m *Model, title string) tea.Cmd {
		return m.decide(func(ctx context.Context, _ string) (string, error) {
			renamed, err := m.opts.Daemon.RenameSession(ctx, session.ID, title)
			if err != nil {
				return "", err
			}
			return "Renamed to " + termsafe.Line(renamed.Title, 80) + ".", nil
		})
	})
	return nil
}

func forgetSession(m *Model) tea.Cmd {
	session := m.selectedRow().session
	m.openConfirm("F", "forget it", confirmText{
		title:    "Forget the session",
		question: "Take this session off the list, and forget how to resume it?",
		about:    []string{termsafe.Line(m.selectedRow().title(), 200)},
		hints:    []string{"Press F again to forget it, or Esc."},
	},
		func(m *Model) tea.Cmd {
			return m.decide(func(ctx context.Context, _ string) (string, error) {
				_, err := m.opts.Daemon.ForgetSession(ctx, session.ID)
				return "Forgotten.", err
			})
		})
	return nil
}

func sentText(sent *wire.SessionSent) string {
	if sent.Via == "pane" {
		return "Typed into its terminal."
	}
	return "Sent: it's the agent's next prompt."
}
