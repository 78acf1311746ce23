package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// settleTime is how long a request must have been on the screen before a key
// answers it.
const settleTime = 300 * time.Millisecond

// Options are what a view works with.
type Options struct {
	Hub Hub
	// Jump brings the window of a session before the person.
	Jump func(ctx context.Context, s *wire.Session) (string, error)
	// Now tells the time; nil means the clock.
	Now func() time.Time
	// Empty are the lines to show while there is no session at all.
	Empty []string
}

// mode is what keys mean now.
type mode int

const (
	modeList    mode = iota
	modeTyping       // a text is being typed
	modeConfirm      // one key says yes
	modeForm         // questions are being answered
	modeHelp
)

// Model is the state of the view.
type Model struct {
	opts  Options
	ctx   context.Context
	board *board

	problem   string            // why the hub cannot be followed; "" when it is
	ready     *client.FeedReady // whether agents wait for this view
	connected map[string]bool   // requests named since the feed was followed anew; nil once it is ready
	info      *client.Info

	width, height int
	rows          []row
	selected      string // key of the selected row
	listTop       int    // first line of the list on the screen
	scroll        int    // first line of the details on the screen
	filter        string
	withEnded     bool

	mode        mode
	typing      typing
	confirm     confirmation
	form        *form
	shown       shown
	detail      *wire.SessionDetail
	detailOf    string // key of the row it belongs to
	detailError error
	loading     string
	status      string
	busy        bool // an answer is on its way
	body        body // of the request drawn last
}

// typing is a text being typed, and what becomes of it.
type typing struct {
	label string
	input lineInput
	done  func(m *Model, text string) tea.Cmd
	live  func(m *Model, text string) // told of each change
}

// confirmation is a question that one key answers.
type confirmation struct {
	lines []string
	yes   string // the key
	since time.Time
	run   func(m *Model) tea.Cmd
}

// New returns a view of a hub.
func New(ctx context.Context, opts Options) *Model {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Model{opts: opts, ctx: ctx, board: newBoard(), problem: "looking for the hub"}
}

// Run shows the view until the person leaves it or ctx ends.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	model := New(ctx, opts)
	program := tea.NewProgram(model, append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(30)}, more...)...)
	Follow(ctx, opts.Hub, program.Send)
	_, err := program.Run()
	return err
}

// Init starts the clock of the view.
func (m *Model) Init() tea.Cmd { return tick() }

// tick redraws ages; once a second is enough for them.
func tick() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// Update takes one message: a key, or something the hub said.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	m.rebuildRows()
	if more := m.loadDetail(); more != nil {
		cmd = tea.Batch(cmd, more)
	}
	m.noteShown()
	return m, cmd
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m.handleKey(msg)
	case tea.PasteMsg:
		return m.handlePaste(msg)
	case tea.MouseWheelMsg:
		m.handleWheel(msg)
	case tea.MouseClickMsg:
		m.handleClick(msg)
	case noteMsg:
		m.takeNote(client.FeedNote(msg))
	case sessionsMsg:
		m.board.sessions = map[string]*wire.Session{}
		for i := range msg {
			m.board.setSession(&wire.SessionChange{Session: msg[i]})
		}
	case sessionMsg:
		change := wire.SessionChange(msg)
		m.board.setSession(&change)
		if m.detailOf == "session "+change.Session.ID {
			m.detailOf = "" // read it anew
		}
	case infoMsg:
		m.info = msg.info
	case connectionMsg:
		m.problem, m.ready, m.connected = msg.problem, nil, map[string]bool{}
	case detailMsg:
		m.loading = ""
		if msg.key == m.selected {
			m.detail, m.detailOf, m.detailError = msg.detail, msg.key, msg.err
		}
	case outcomeMsg:
		m.busy, m.status = m.busy && msg.aside, msg.text
	case askAtTerminalMsg:
		return tea.Exec(msg.call, func(err error) tea.Msg { return outcomeMsg{text: msg.call.said(err)} })
	case askPINMsg:
		m.busy = false
		return m.askPIN(msg)
	case tickMsg:
		return tick()
	}
	return nil
}

// takeNote takes what the feed says. When it is followed anew, the hub names
// everything that waits before it says ready; what it did not name has ended.
func (m *Model) takeNote(n client.FeedNote) {
	switch {
	case n.Ready != nil:
		m.problem, m.ready = "", n.Ready
		if m.connected != nil {
			m.board.requests = slices.DeleteFunc(m.board.requests,
				func(r *wire.FeedItem) bool { return !m.connected[r.ID] })
			m.connected = nil
		}
	case n.Item == nil:
	case n.Method == wire.NoteFeedReceived, n.Method == wire.NoteFeedWindow:
		m.board.setRequest(n.Item)
		if m.connected != nil {
			m.connected[n.Item.ID] = true
		}
	default:
		m.board.removeRequest(n.Item.ID)
		if m.selected == "request "+n.Item.ID && !m.busy {
			m.status = endedText(n.Item)
		}
	}
}

// rebuildRows puts the rows in order and keeps the selection on what it was on.
// When that is gone, the row in its place is selected.
func (m *Model) rebuildRows() {
	at := m.selectedIndex()
	m.rows = m.board.listRows(m.filter, m.withEnded)
	if m.selectedIndex() >= 0 || len(m.rows) == 0 {
		return
	}
	m.selectRow(min(max(at, 0), len(m.rows)-1))
}

func (m *Model) selectedIndex() int {
	return slices.IndexFunc(m.rows, func(r row) bool { return r.key() == m.selected })
}

func (m *Model) selectedRow() *row {
	if i := m.selectedIndex(); i >= 0 {
		return &m.rows[i]
	}
	return nil
}

// openConfirm asks for one more key. It counts only once the question was on the
// screen for a while.
func (m *Model) openConfirm(yes string, lines []string, run func(m *Model) tea.Cmd) {
	m.mode, m.confirm = modeConfirm, confirmation{lines: lines, yes: yes, since: m.opts.Now(), run: run}
}

func (m *Model) selectRow(i int) {
	if i < 0 || i >= len(m.rows) || m.rows[i].key() == m.selected {
		return
	}
	m.selected, m.scroll = m.rows[i].key(), 0
	m.shown = shown{}
}

// loadDetail reads the details of the selected session, once.
func (m *Model) loadDetail() tea.Cmd {
	r := m.selectedRow()
	if r == nil || r.request != nil || m.detailOf == m.selected || m.loading == m.selected || m.problem != "" {
		return nil
	}
	key, id := m.selected, r.session.ID
	m.loading = key
	return func() tea.Msg {
		detail, err := m.opts.Hub.Session(m.ctx, id)
		return detailMsg{key, detail, err}
	}
}
