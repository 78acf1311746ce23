package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// binding is one key: what it does, and where.
type binding struct {
	keys    []string
	name    string // as it is shown
	does    string // a word or two
	when    func(m *Model) bool
	run     func(m *Model) tea.Cmd
	decides bool // it asks the daemon for something, so the daemon must be there
	always  bool // it works everywhere, so only the help shows it
	// told is where a key that works everywhere is shown all the same.
	told func(m *Model) bool
}

// bindings returns the keys of the list, in the order in which they are shown.
func bindings() []binding {
	choose := func(choice string) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { return m.approve(choice) }
	}
	move := func(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.moveBy(n) } }
	scroll := func(pages int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.scrollBy(pages) } }
	keys := func(names ...string) []string { return names }
	return []binding{
		{keys: keys("a"), name: "a", does: "approve", when: offers("once"), run: choose("once"), decides: true},
		{keys: keys("a"), name: "a", does: "accept", when: offers("accept"), run: choose("accept"), decides: true},
		{keys: keys("u"), name: "u", does: "accept, edits unasked", when: offers("auto"), run: choose("auto"), decides: true},
		{keys: keys("m"), name: "m", does: "accept, edits asked", when: offers("manual"), run: choose("manual"), decides: true},
		{keys: keys("A"), name: "A", does: "always …", when: offersAlways, run: approveAlways, decides: true},
		{keys: keys("S"), name: "S", does: "always, as the agent offers …", when: offersOwnRule, run: approveByOwnRule, decides: true},
		{keys: keys("enter"), name: "Enter", does: "answer", when: offers("answer"), run: answerQuestions, decides: true},
		{keys: keys("d"), name: "d", does: "deny", when: offers("deny"), run: denyRequest, decides: true},
		{keys: keys("d"), name: "d", does: "reject", when: offers("reject"), run: denyRequest, decides: true},
		{keys: keys("space", "pgdown"), name: "Space", does: "more", when: hasMore, run: scroll(1)},
		{keys: keys("B"), name: "B", does: "approve several …", when: canBatch, run: openBatch, decides: true},
		{keys: keys("r"), name: "r", does: "leave to the agent", when: canRelease, run: releaseRequest, decides: true},
		{keys: keys("enter", "g"), name: "g", does: "go there", when: hasSession, run: jumpThere},
		{keys: keys("s"), name: "s", does: "send text", when: takesText, run: sendText, decides: true},
		{keys: keys("c"), name: "c", does: "take up again", when: canResume, run: resumeSession, decides: true},
		{keys: keys("G"), name: "G", does: "let it pass once …", when: wasStopped, run: allowOnce, decides: true},
		{keys: keys("p"), name: "p", does: "what is wrong", when: (*Model).hasProblems, run: showProblems},
		{keys: keys("b", "pgup"), name: "b", does: "page back", when: always, run: scroll(-1), always: true},
		{keys: keys("down", "j"), name: "↓ j", does: "next", when: always, run: move(1), always: true},
		{keys: keys("up", "k"), name: "↑ k", does: "previous", when: always, run: move(-1), always: true},
		{keys: keys("home"), name: "Home", does: "first", when: always, run: move(-1 << 20), always: true},
		{keys: keys("end"), name: "End", does: "last", when: always, run: move(1 << 20), always: true},
		{keys: keys("n", "tab"), name: "n", does: "next that needs you", when: always, run: nextWaiting, always: true, told: isElsewhere},
		{keys: keys("/"), name: "/", does: "filter", when: always, run: startFilter, always: true},
		{keys: keys("esc"), name: "Esc", does: "filter off", when: always, run: clearFilter, always: true},
		{keys: keys("h", "e"), name: "h", does: "history: answered, ended", when: always, run: toggleHistory, always: true},
		{keys: keys("w"), name: "w", does: "go away", when: (*Model).isHere, run: goAway, decides: true, always: true},
		{keys: keys("w"), name: "w", does: "come back", when: (*Model).isAway, run: comeBack, decides: true, always: true, told: always},
		{keys: keys("O"), name: "O", does: "hookmux off …", when: (*Model).isOn, run: switchOff, decides: true, always: true},
		{keys: keys("O"), name: "O", does: "hookmux on", when: (*Model).isOff, run: switchOn, decides: true, always: true, told: always},
		{keys: keys("R"), name: "R", does: "rename the session", when: hasSession, run: renameSession, decides: true, always: true},
		{keys: keys("F"), name: "F", does: "forget the session", when: hasSession, run: forgetSession, decides: true, always: true},
		{keys: keys("?"), name: "?", does: "help", when: always, run: showHelp, always: true},
		{keys: keys("q", "ctrl+c"), name: "q", does: "leave", when: always,
			run: func(*Model) tea.Cmd { return tea.Quit }, always: true},
		{keys: keys("ctrl+z"), name: "Ctrl-Z", does: "suspend", when: always,
			run: func(*Model) tea.Cmd { return tea.Suspend }, always: true},
	}
}

func always(*Model) bool { return true }

// offers reports whether the selected request can be answered with a choice.
func offers(choice string) func(*Model) bool {
	return func(m *Model) bool {
		item := m.pendingRequest()
		return item != nil && slices.Contains(item.Choices, choice)
	}
}

func offersAlways(m *Model) bool { return offers("always")(m) && m.pendingRequest().Rule != "" }
func canRelease(m *Model) bool   { return m.pendingRequest() != nil }
func hasMore(m *Model) bool      { return m.hiddenLines() > 0 }

func hasSession(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.session != nil
}

// takesText reports whether the selected session takes typed text. A text typed into a
// window that waits for a yes could be that yes.
func takesText(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.isSession() && r.session.Ended == nil && r.section != sectionWaiting
}

// pressedKey is the key that was pressed last.
type pressedKey struct {
	key  string
	at   time.Time
	held bool // it was pressed just before as well: perhaps it repeats
}

// repeatTime is the longest a keyboard waits before a key that is held down repeats.
const repeatTime = 700 * time.Millisecond

const heldText = "held down or pressed twice: nothing was answered; wait a second, then press it once"

func (m *Model) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	now := m.opts.Now()
	m.pressed = pressedKey{key, now, m.pressed.key == key && now.Sub(m.pressed.at) < repeatTime}
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
	case m.pendingRequest() != nil:
		return "this request is not answered with " + key
	case r.section == sectionWaiting:
		return "the agent asks this in its own terminal; press g to go there"
	case isElsewhere(m):
		return "nothing is asked here; n goes to the next that needs you"
	}
	return "nothing is asked here"
}

// isElsewhere reports whether somebody else needs the person than who is selected.
func isElsewhere(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.section != sectionWaiting && frame{m}.countWaiting() > 0
}

// handleConfirmKey takes the key that says yes once all of the question was on the
// screen for a while; the first press of a key that repeats does not count.
func handleConfirmKey(m *Model, key string) tea.Cmd {
	c := m.confirm
	switch {
	case key != c.yes:
		m.mode, m.status = modeList, "nothing was done"
		return nil
	case m.opts.Now().Sub(c.since) < settleTime || m.pressed.held:
		return nil
	case len(frame{m}.confirmLines()) > m.bodyHeight():
		m.status = "the window is too small for all of it"
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
	if m.mode != modeTyping {
		return nil
	}
	m.typing.input.insertText(msg.Content)
	tellTyping(m)
	return nil
}

// tellTyping passes on what is typed where each letter counts.
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

func (m *Model) startTyping(label, value string, done func(m *Model, text string) tea.Cmd) {
	m.mode, m.typing = modeTyping, typing{label: label, input: newLineInput(value), done: done}
}

func (m *Model) moveBy(n int) tea.Cmd {
	m.moved = true
	m.selectRow(min(max(m.selectedIndex()+n, 0), len(m.list.rows)-1))
	return nil
}

// nextWaiting goes to the next row that needs the person, from the top again after
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
	m.status = "nobody waits for you"
	return nil
}

// scrollBy moves the details by pages.
func (m *Model) scrollBy(pages int) tea.Cmd {
	m.scrollLines(pages * max(1, m.layout().detail.height-1))
	return nil
}

// scrollLines moves the details by lines. What of a request was not drawn yet is not
// scrolled past.
func (m *Model) scrollLines(n int) {
	m.moved = true
	place := m.layout().detail
	to := min(max(m.scroll+n, 0), max(0, m.page(place.width).length()-place.height))
	if n > 0 && m.pendingRequest() != nil {
		to = max(m.scroll, min(to, m.shown.furthest(m.opts.Now())+headOfRequest))
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
	lines := m.list.visible(m.selected, place.height)
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
	m.startTyping("Filter", m.filter, func(*Model, string) tea.Cmd { return nil })
	m.typing.live = func(m *Model, text string) { m.filter = text }
	return nil
}

func clearFilter(m *Model) tea.Cmd {
	m.filter = ""
	return nil
}

func showHelp(m *Model) tea.Cmd {
	m.openPage("Keys", helpLines(m.width))
	return nil
}

// jumpThere brings the session's window before the person.
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
	m.startTyping("Send to "+termsafe.Line(session.Agent, 20)+" as the next prompt", "",
		func(m *Model, text string) tea.Cmd {
			if text == "" {
				m.status = "nothing was sent"
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
	m.startTyping("Title (empty: the agent's own)", session.Title, func(m *Model, title string) tea.Cmd {
		return m.decide(func(ctx context.Context, _ string) (string, error) {
			renamed, err := m.opts.Daemon.RenameSession(ctx, session.ID, title)
			if err != nil {
				return "", err
			}
			return "it is called " + termsafe.Line(renamed.Title, 80) + " now", nil
		})
	})
	return nil
}

func forgetSession(m *Model) tea.Cmd {
	session := m.selectedRow().session
	m.openConfirm("F", confirmText{
		question: "Take this session out of the list, and forget how it is resumed?",
		about:    []string{termsafe.Line(m.selectedRow().title(), 200)},
		hints:    []string{"F forgets it · Esc leaves it"},
	},
		func(m *Model) tea.Cmd {
			return m.decide(func(ctx context.Context, _ string) (string, error) {
				_, err := m.opts.Daemon.ForgetSession(ctx, session.ID)
				return "forgotten", err
			})
		})
	return nil
}

func sentText(sent *wire.SessionSent) string {
	if sent.Via == "pane" {
		return "typed into its window"
	}
	return "sent; the agent takes it as its next prompt"
}
