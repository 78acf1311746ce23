package tui

import (
	"context"
	"fmt"
	"image/color"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// settleTime is how long a request must have been on the screen before a key
// answers it: 300 ms, and the time until a frame that was made is drawn.
const settleTime = 300*time.Millisecond + frameTime

// frameTime is how long it takes at most until a frame that was made is drawn, with
// something to spare.
const frameTime = time.Second/framesPerSecond + 20*time.Millisecond

// framesPerSecond is how often the screen is drawn at most; what the daemon says
// changes it more rarely (gatherTime).
const framesPerSecond = 10

// Options configure a view.
type Options struct {
	Daemon Daemon
	// Jump brings the window of a session to the front.
	Jump func(ctx context.Context, s *wire.Session) (string, error)
	// Resume resumes an ended session; nil if that can't be done here.
	Resume func(ctx context.Context, s *wire.Session) (string, error)
	// Now returns the time; nil means the clock.
	Now func() time.Time
	// Empty are further lines to show while there is no session at all.
	Empty []string
	// Agents can be started here, the likeliest first, by Start; Folder is where, unless
	// you choose another.
	Agents []string
	Folder string
	Start  func(ctx context.Context, work Work) (string, error)
	// Sidebar shows only the list, however narrow. Answer shows a request in full somewhere
	// else; nil if that can't be done.
	Sidebar bool
	Answer  func(ctx context.Context) error
	// WatchKeys has the daemon watch for the next key at this terminal. It is called before
	// each key that is waited for; nil if programs can't press keys.
	WatchKeys func(ctx context.Context)
	// Demo says that the agents are recordings. Home is the folder that is shown as ~.
	Demo bool
	Home string
	// Version is this program's; "" does not compare it with the daemon's.
	Version string
}

// mode says what keys mean now.
type mode int

const (
	modeList    mode = iota
	modeTyping       // a text is being typed
	modeConfirm      // one key says yes
	modeForm         // questions are being answered
	modeBatch        // several requests are read and approved together
	modePage         // something is read
	modeStart        // an agent is about to be started
)

// Model is the state of the view.
type Model struct {
	opts  Options
	ctx   context.Context
	board *board

	daemonState

	width, height int
	list          *list
	selected      string // key of the selected row
	session       string // the session it is about
	moved         bool   // the user chose it; else the cursor follows what needs them
	scroll        int    // first line of the details on the screen
	filter        string
	withHistory   bool
	historyDue    bool // it is read again soon
	historyOpened bool // the cursor goes there once it was read

	mode    mode
	typing  typing
	confirm confirmation
	form    *form
	batch   *batch
	reading reading
	// starting is filled in before an agent is started.
	starting starting
	shown    shown
	body     *body // of the request drawn last
	details  details
	loading  string
	status   string
	// statusAt is when the status was set.
	statusAt time.Time
	busy     bool   // an answer is on its way
	replied  string // the request that was answered last
	// armed is the dangerous request that the same key approves if it is pressed next;
	// wasArmed is what it was before the key that is handled now.
	armed, wasArmed string
	armedAt         time.Time
	pressed         pressedKey
	keyAt           time.Time // when the key was pressed that is handled now
	drawn           drawnFrame
	palette         palette
	// What the terminal is like, as far as it says.
	profile    colorprofile.Profile
	background color.Color
	tick       func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
	ticks      int // the current tick; others are ignored
	tickAt     time.Time
}

// typing is a text being typed, and what becomes of it.
type typing struct {
	title  string
	label  string // what to type, in a sentence
	does   string // what Enter does, in a word or two
	inline bool   // in the line at the bottom, not in a popup
	input  lineInput
	done   func(m *Model, text string) tea.Cmd
	live   func(m *Model, text string) // called for each change
}

// leaves says what Esc does.
func (t *typing) leaves() string {
	if t.live != nil {
		return "show all"
	}
	return "cancel"
}

// confirmation is a question that one key answers.
type confirmation struct {
	confirmText
	yes   string // the key
	does  string // what it does, in a word or two
	since time.Time
	run   func(m *Model) tea.Cmd
}

type confirmText struct {
	title    string
	question string
	about    []string // what it is about, as text from elsewhere
	hints    []string
}

// connectingText is shown before the daemon first answers.
const connectingText = "Connecting to the daemon …"

// New returns a view of a daemon.
func New(ctx context.Context, opts Options) *Model {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m := &Model{opts: opts, ctx: ctx, board: newBoard(), tick: tea.Tick,
		daemonState: daemonState{connection: connectingText, problem: connectingText}}
	m.list = newList(m.board, m.listOptions())
	return m
}

// Run shows the view until the user leaves it or ctx ends.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	model := New(ctx, opts)
	own := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(framesPerSecond)}
	program := tea.NewProgram(model, append(own, more...)...)
	Follow(ctx, opts.Daemon, program.Send)
	_, err := program.Run()
	return err
}

// Init asks the terminal for its background; everything else starts with the first message.
func (m *Model) Init() tea.Cmd { return tea.RequestBackgroundColor }

// drawnFrame is the last frame. A new one is only made when something happened: a daemon
// that says it is well changes nothing.
type drawnFrame struct {
	text  string
	valid bool
}

// Update takes one message: a key, or something the daemon said.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if !m.saysNothingNew(msg) {
		m.drawn.valid = false
	}
	before := m.status
	cmd := m.handle(msg)
	if watch := m.watchKeys(msg); watch != nil {
		cmd = tea.Batch(cmd, watch)
	}
	m.ageStatus(msg, before)
	if more := m.refreshHistory(msg); more != nil {
		cmd = tea.Batch(cmd, more)
	}
	m.rebuildRows()
	if more := m.loadDetail(); more != nil {
		cmd = tea.Batch(cmd, more)
	}
	m.noteShown()
	if tick := m.planTick(); tick != nil {
		cmd = tea.Batch(cmd, tick)
	}
	return m, cmd
}

// watchKeys makes the daemon watch for the next key, after everything that came from the user
// and whenever an answer is done.
func (m *Model) watchKeys(msg tea.Msg) tea.Cmd {
	if m.opts.WatchKeys == nil || m.busy || m.pressed.behind != nil {
		return nil
	}
	switch msg.(type) {
	case tea.WindowSizeMsg, tea.KeyPressMsg, quietMsg, tea.PasteMsg, tea.MouseMsg, outcomeMsg, pageMsg, askPINMsg:
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(m.ctx, silenceTime)
			defer cancel()
			m.opts.WatchKeys(ctx)
			return nil
		}
	}
	return nil
}

// statusTime is how long the last line says what happened.
const statusTime = 10 * time.Second

// ageStatus takes what happened off the last line after a while.
func (m *Model) ageStatus(msg tea.Msg, before string) {
	switch msg.(type) {
	case tea.KeyPressMsg, outcomeMsg, pageMsg:
		m.statusAt = m.opts.Now()
	default:
		if m.status != before {
			m.statusAt = m.opts.Now()
		} else if m.status != "" && m.mode == modeList && m.opts.Now().Sub(m.statusAt) >= statusTime {
			m.status, m.drawn.valid = "", false
		}
	}
}

// planTick redraws ages when they change: each second while something is seconds old,
// otherwise rarely. A screen on which nothing happens costs nothing.
func (m *Model) planTick() tea.Cmd {
	now, pause := m.opts.Now(), 20*time.Second
	for i := range m.list.rows {
		if age := now.Sub(m.list.rows[i].since()); age < 10*time.Second {
			pause = time.Second
			break
		} else if age < time.Minute {
			pause = 5 * time.Second
		}
	}
	if m.details.stale && m.details.key == m.selected {
		pause = detailPause
	}
	if m.status != "" {
		pause = min(pause, max(m.statusAt.Add(statusTime).Sub(now), time.Second))
	}
	due := now.Add(pause)
	if m.tickAt.After(now) && !m.tickAt.After(due) {
		return nil // one is on its way
	}
	m.ticks++
	m.tickAt = due
	n := m.ticks
	return m.tick(pause, func(time.Time) tea.Msg { return tickMsg{n} })
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height, m.status = msg.Width, msg.Height, ""
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.palette = newPalette(m.background, m.profile)
	case tea.BackgroundColorMsg:
		m.background = msg.Color
		m.palette = newPalette(m.background, m.profile)
	case tea.EnvMsg:
		if m.background == nil {
			m.background = backgroundOf(msg.Getenv("COLORFGBG"))
			m.palette = newPalette(m.background, m.profile)
		}
	case tea.KeyPressMsg:
		return m.handleKey(msg)
	case quietMsg:
		return m.handleQuiet(msg)
	case tea.PasteMsg:
		return handlePaste(m, msg)
	case tea.MouseWheelMsg:
		handleWheel(m, msg)
	case tea.MouseClickMsg:
		handleClick(m, msg)
	case daemonMsg:
		for _, one := range msg {
			m.handleDaemon(one)
		}
		m.followProblem()
	case noteMsg, sessionsMsg, sessionMsg, infoMsg, connectionMsg, silenceMsg:
		m.handleDaemon(msg)
		m.followProblem()
	case detailMsg:
		m.loading = ""
		if msg.key == m.selected {
			m.details = details{key: msg.key, session: msg.session, timeline: msg.timeline, err: msg.err,
				read: m.opts.Now()}
		}
	case historyDueMsg:
		m.historyDue = false
		return m.readHistory
	case historyMsg:
		m.board.setDecided(msg.decided)
		switch {
		case msg.err != nil:
			m.status, m.withHistory = errorText(msg.err), m.withHistory && !m.historyOpened
		case len(msg.decided) == 0 && m.list.counts[sectionEnded] == 0:
			m.withHistory = false // what is answered later doesn't appear by itself
			m.status = "There's no history yet: nothing was answered, and no session ended."
		case m.historyOpened:
			m.status = fmt.Sprintf("History: %d answered, %d ended. h hides it.", len(msg.decided), m.list.counts[sectionEnded])
			m.rebuildRows()
			if first := slices.IndexFunc(m.list.rows, func(r row) bool { return r.section >= sectionAnswered }); first >= 0 {
				m.moved = true
				m.selectRow(first)
			}
		}
		m.historyOpened = false
	case outcomeMsg:
		m.busy, m.status = m.busy && msg.aside, msg.text
		if msg.returned { // the screen was the daemon's: what is typed now may be meant for its question
			m.shown = shown{}
		}
		return m.readInfo
	case pageMsg:
		m.busy, m.status = false, msg.title
		if m.mode == modeList { // else what is typed meanwhile goes on
			m.status = ""
			m.openPage(msg.title, msg.lines)
		}
		return m.readInfo
	case askAtTerminalMsg:
		return tea.Exec(msg.call, func(err error) tea.Msg { return msg.call.outcome(err) })
	case askPINMsg:
		m.busy = false
		return m.askPIN(msg)
	case tickMsg:
		if msg.n == m.ticks {
			m.tickAt = time.Time{}
		}
	}
	return nil
}

// readInfo asks the daemon how it is now: an answer may have changed that.
func (m *Model) readInfo() tea.Msg {
	ctx, cancel := context.WithTimeout(m.ctx, silenceTime)
	defer cancel()
	info, err := m.opts.Daemon.Info(ctx)
	if err != nil {
		return nil // who watches the daemon says so
	}
	return infoMsg{info}
}

// handleDaemon takes something the daemon said.
func (m *Model) handleDaemon(msg tea.Msg) {
	switch msg := msg.(type) {
	case noteMsg:
		m.takeNote(client.InboxNote(msg))
	case sessionsMsg:
		m.board.setSessions(msg)
	case sessionMsg:
		change := wire.SessionChange(msg)
		m.board.setSession(&change)
		if m.details.key == m.selected && m.session == change.Session.ID {
			m.details.note(&change.Session)
		}
	case infoMsg:
		m.setInfo(msg.info)
	case connectionMsg:
		m.disconnect(msg.problem)
	case silenceMsg:
		m.silent = true
	}
}

// followProblem says what is wrong with the daemon, and clears that it is silent.
func (m *Model) followProblem() {
	if m.nameProblem() && m.status == silentText {
		m.status = "" // it answers again
	}
}

// takeNote takes what the inbox says. When it is followed again, the daemon names everything
// that waits before it says ready; what it didn't name has ended.
func (m *Model) takeNote(n client.InboxNote) {
	switch {
	case n.Ready != nil:
		m.connection, m.silent, m.ready = "", false, n.Ready
		if m.connected != nil {
			m.board.keepRequests(func(r *wire.InboxRequest) bool { return m.connected[r.ID] })
			m.connected = nil
		}
	case n.Item == nil:
	case n.Method == wire.NoteInboxReceived, n.Method == wire.NoteInboxPrompt:
		m.board.setRequest(n.Item)
		if m.connected != nil {
			m.connected[n.Item.ID] = true
		}
	default:
		m.board.removeRequest(n.Item.ID)
		// A prompt in the agent's own terminal may go because it is in the inbox now.
		if m.selected == "request "+n.Item.ID && !m.busy && m.replied != n.Item.ID && !isWindow(n.Item) {
			m.status = endedText(n.Item)
		}
	}
}

func (m *Model) listOptions() listOptions {
	opts := listOptions{filter: m.filter, history: m.withHistory, most: 1}
	switch {
	case m.opts.Sidebar || m.height >= tallScreen && !m.isSideBySide():
		opts.most, opts.room = 2, 1<<20
	case m.isSideBySide():
		opts.most, opts.room = 3, m.height-m.headHeight()-2
	}
	return opts
}

// rebuildRows sorts the rows and keeps the selection on what it was on. A cursor that the user
// didn't move goes to the first row that needs them.
func (m *Model) rebuildRows() {
	if m.list.isCurrent(m.board, m.listOptions()) {
		return
	}
	at := m.selectedIndex()
	m.list = newList(m.board, m.listOptions())
	if len(m.list.rows) == 0 {
		return
	}
	to := m.selectedIndex()
	if to < 0 {
		to = m.successor(at)
	}
	if !m.moved && m.mode == modeList && m.list.rows[0].section == sectionWaiting &&
		m.list.rows[to].section != sectionWaiting {
		to = 0
	}
	m.selectRow(to)
}

// successor returns the row to select once the selected one, at some position, is gone: what
// its session asks now; else whatever needs the user and took its place, or comes first after
// an answer; else its session; else what took its place.
func (m *Model) successor(at int) int {
	at = min(max(at, 0), len(m.list.rows)-1)
	own, answered := -1, m.replied != "" && m.selected == "request "+m.replied
	for i := range m.list.rows {
		if r := &m.list.rows[i]; m.session != "" && r.sessionID() == m.session {
			if r.request != nil || r.section == sectionWaiting && !answered {
				return i
			}
			own = i
		}
	}
	if answered && m.list.rows[0].section == sectionWaiting && m.list.rows[at].section != sectionWaiting {
		at = 0
	}
	if own < 0 || m.list.rows[at].section == sectionWaiting {
		return at
	}
	return own
}

func (m *Model) selectedIndex() int {
	return slices.IndexFunc(m.list.rows, func(r row) bool { return r.key() == m.selected })
}

func (m *Model) selectedRow() *row {
	if i := m.selectedIndex(); i >= 0 {
		return &m.list.rows[i]
	}
	return nil
}

// openConfirm asks for one more key, which is only accepted once the question was on the
// screen for a while.
func (m *Model) openConfirm(yes, does string, words confirmText, run func(m *Model) tea.Cmd) {
	m.mode, m.confirm = modeConfirm, confirmation{confirmText: words, yes: yes, does: does, since: m.opts.Now(), run: run}
}

func (m *Model) selectRow(i int) {
	if i < 0 || i >= len(m.list.rows) || m.list.rows[i].key() == m.selected {
		return
	}
	m.selected, m.session, m.scroll = m.list.rows[i].key(), m.list.rows[i].sessionID(), 0
	m.shown = shown{}
}

// loadDetail reads the details of the selected session, and again when it went on.
func (m *Model) loadDetail() tea.Cmd {
	r := m.selectedRow()
	if r == nil || r.session == nil || r.decided != nil || m.loading == m.selected || m.problem != "" || m.opts.Sidebar {
		return nil
	}
	known := m.details.key == m.selected
	if known && (!m.details.stale || m.opts.Now().Sub(m.details.read) < detailPause) {
		return nil
	}
	key, id := m.selected, r.session.ID
	m.loading = key
	return func() tea.Msg {
		session, err := m.opts.Daemon.Session(m.ctx, id)
		if err != nil {
			return detailMsg{key: key, err: err}
		}
		timeline, err := readTimeline(m.ctx, m.opts.Daemon, id)
		return detailMsg{key, session, timeline, err}
	}
}
