package notify

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// Requests is the part of approvals that notify needs.
type Requests interface {
	// Follow calls each for every request that waits and whatever becomes of it, without
	// secrets, until ctx ends.
	Follow(ctx context.Context, each func(note string, item wire.InboxRequest))
	// DenyByButton says no to a request whose card was shown with a button.
	DenyByButton(id, sha256 string) error
	// Viewers returns the processes that show requests to a user who may answer.
	Viewers() []int
}

// Sessions is the part of sessions that notify needs.
type Sessions interface {
	List(all bool) []wire.Session
}

// Service notifies you.
type Service struct {
	services.Deps
	settings func() *config.Settings
	requests Requests
	sessions Sessions

	started time.Time
	now     func() time.Time
	queues  map[string]*channelQueue
	desktop *desktop // nil if another program shows notices
	devices Devices  // nil without any

	// order is held from planning to queueing, so that a notice isn't shown after it was
	// withdrawn.
	order sync.Mutex
	mu    sync.Mutex
	plan  *noticePlan
	wake  chan struct{}
}

// New prepares the channels; nothing is shown before Run.
func New(deps services.Deps, settings func() *config.Settings, requests Requests, sessions Sessions) *Service {
	s := &Service{
		Deps: deps, settings: settings, requests: requests, sessions: sessions,
		started: time.Now(), now: time.Now, plan: newNoticePlan(), wake: make(chan struct{}, 1),
	}
	text := func(key string) string { return settings().Choice(key) }
	sound := func(kind string) soundChoice {
		return chooseSound(text(nameFor(config.NotifySound, kind)), deps.Dirs.Home)
	}
	seen := &terminals{servers: s.tmuxServers}
	channels := map[string]channel{
		"terminal": oscNotice{seen, sequenceFor},
		"tmux":     tmuxMessage{seen},
		"bell":     bell{seen},
		"sound":    soundPlayer{sound, exec.LookPath},

		config.PushChannel: &pushChannel{command: func() string { return text(config.NotifyCommand) }},
		"webhook": newWebhook(func() webhookSettings {
			return webhookSettings{
				address: text(config.NotifyWebhook), secret: text(config.NotifySecret),
				format: text(config.NotifyFormat), chat: text(config.NotifyChat), home: deps.Dirs.Home,
			}
		}),
	}
	if runtime.GOOS == "darwin" {
		channels["desktop"] = scriptNotice{macScript, sound}
	} else {
		s.desktop = &desktop{
			address: func() (string, error) { return busAddress(text(config.NotifyBus), os.Getenv) },
			sound:   sound, pressed: s.buttonPressed,
		}
		channels["desktop"] = s.desktop
	}
	s.queues = map[string]*channelQueue{}
	for name, c := range channels {
		l := newChannelQueue(name, c)
		l.isOver, l.report = s.isOver, s.reportResult
		s.queues[name] = l
	}
	return s
}

// Run shows notices until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, l := range s.queues {
		running.Go(func() { l.run(ctx) })
	}
	running.Go(func() { s.requests.Follow(ctx, s.applyNote) })
	s.planInTime(ctx)
	running.Wait()
	if s.desktop != nil {
		s.desktop.close()
	}
}

// planInTime plans what is due, when it is.
func (s *Service) planInTime(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		s.mu.Lock()
		at, found := s.plan.nextDue()
		s.mu.Unlock()
		timer.Stop()
		if found {
			timer.Reset(max(0, at.Sub(s.now())))
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			continue
		case <-timer.C:
		}
		r, now := s.readRules(), s.now()
		s.mu.Lock()
		due := s.plan.dueSessions(now)
		s.mu.Unlock()
		around := s.readMachine(ctx, due) // tmux and sessions are asked without the lock
		s.order.Lock()
		s.mu.Lock()
		tasks := s.plan.planDue(&r, now, around)
		s.mu.Unlock()
		s.queueTasks(tasks, &r)
		s.order.Unlock()
	}
}

// applyNote records what happened to a request.
func (s *Service) applyNote(note string, item wire.InboxRequest) {
	r := s.readRules()
	s.order.Lock()
	s.mu.Lock()
	tasks := s.plan.applyNote(note, item, s.now(), r.settle)
	s.mu.Unlock()
	s.queueTasks(tasks, &r)
	s.order.Unlock()
	s.wakeUp()
}

// TurnEnded records that a turn of a session ended.
func (s *Service) TurnEnded(one wire.Session) {
	if one.Turn == nil || one.Turn.Ended == nil || one.Turn.Ended.Before(s.started) {
		return // of an earlier daemon's time
	}
	if s.settings().Choice(config.Notify) != "on" {
		return // at every turn's end: without reading the other settings
	}
	r := s.readRules()
	s.mu.Lock()
	s.plan.applyTurn(one, s.now(), r.settle)
	s.mu.Unlock()
	s.wakeUp()
}

// HooksMissing notifies you that a session has run without its hooks since a time of day.
func (s *Service) HooksMissing(one wire.Session, since string) {
	r := s.readRules()
	if !r.on || r.isQuiet(s.now()) {
		return
	}
	n := gapNotice(&one, s.AgentTitle(one.Agent), since, s.now())
	known, found := findSession(s.sessions.List(false), n.Agent, n.Session)
	n.CanShow = found && canShow(&known)
	s.tellNow(&r, n)
}

// HooksRemoved notifies that something other than hookmux removed an agent's hooks.
func (s *Service) HooksRemoved(p wire.Problem) {
	if r := s.readRules(); r.on && !r.isQuiet(s.now()) {
		s.tellNow(&r, removedNotice(&p, s.now()))
	}
}

// DeviceElsewhere notifies you, even in quiet hours, that a paired device is used from
// somewhere new: it may be in someone else's hands.
func (s *Service) DeviceElsewhere(device wire.WebDevice) {
	if r := s.readRules(); r.on {
		s.tellNow(&r, deviceElsewhereNotice(device, s.now()))
	}
}

// BudgetReached notifies you that a budget warns, or is used up so far that it blocks calls.
// It returns false in quiet hours: call it again later.
func (s *Service) BudgetReached(id string, blocks bool, words string) bool {
	r := s.readRules()
	if !r.on || !slices.Contains(r.kinds(""), kindBudget) {
		return true
	}
	if r.isQuiet(s.now()) {
		return false
	}
	s.tellNow(&r, budgetNotice(id, blocks, words, s.now()))
	return true
}

func (s *Service) tellNow(r *rules, n Notice) {
	for _, name := range r.channels(n.Kind) {
		if l := s.queues[name]; l != nil {
			l.put(job{notice: n})
		}
	}
}

func (s *Service) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// queueTasks passes tasks to the channels.
func (s *Service) queueTasks(tasks []task, r *rules) {
	if len(tasks) == 0 {
		return
	}
	known := s.sessions.List(false)
	for _, d := range tasks {
		var n Notice
		switch {
		case d.id == groupID:
			n = newGroupNotice(d.group, s.AgentTitle)
		case d.turn != nil:
			n = turnNotice(d.id, d.turn, s.AgentTitle(d.turn.Agent), r.full)
		default:
			n = requestNotice(d.item, s.AgentTitle(d.item.Agent), r.full)
		}
		one, found := findSession(known, n.Agent, n.Session)
		n.CanShow = found && canShow(&one)
		n.Again = d.again
		for _, name := range d.channels {
			if l := s.queues[name]; l != nil {
				l.put(job{notice: n, withdraw: d.withdraw})
			}
		}
	}
}

// isOver reports whether the request of a notice waits no more.
func (s *Service) isOver(n *Notice) bool {
	if n.isNews() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.plan.isWaiting(n.ID)
}

// ReadSettings records that settings changed: every channel has another chance.
func (s *Service) ReadSettings() {
	for name, l := range s.queues {
		l.mu.Lock()
		l.state.last = nil
		l.mu.Unlock()
		s.Problems.Clear(problemKey(name))
	}
}

func problemKey(channel string) string { return "notify." + channel }

// reportResult reports in status which channel doesn't work. A channel that wasn't named in
// the settings and isn't on this machine is left out.
func (s *Service) reportResult(name string, err error) {
	key := problemKey(name)
	if err == nil || errors.Is(err, errAbsent) && !s.isNamed(name) {
		s.Problems.Clear(key)
		return
	}
	s.Problems.Raise(key, "you are not told by "+name+": "+err.Error(), "`hookmux notify test` tries it again; "+
		"`hookmux config set "+config.NotifyChannels+" …` leaves it out")
}

// isNamed reports whether the user named a channel.
func (s *Service) isNamed(name string) bool {
	chosen := s.settings()
	for _, kind := range append([]string{""}, config.NoticeKinds...) {
		key := config.NotifyChannels
		if kind != "" {
			key += "." + kind
		}
		if chosen.IsSet(key) && slices.Contains(chosen.Strings(key), name) {
			return true
		}
	}
	return false
}

// requestKinds are the kinds of notices that are requests.
var requestKinds = config.NoticeKinds[:3]

// Reaches reports whether a channel notifies you of requests of a kind of an agent: it is
// on, and didn't fail when it was last used.
func (s *Service) Reaches(agent, kind string) bool {
	r := s.readRules()
	works := func(name string) bool { return s.queues[name] != nil && s.queues[name].current().last == nil }
	return r.on && slices.Contains(r.kinds(agent), kind) && slices.ContainsFunc(r.channels(kind), works)
}

// buttonPressed does what a button says. Any program may have pressed it.
func (s *Service) buttonPressed(n Notice, button string) {
	if button == buttonDeny {
		if err := s.requests.DenyByButton(n.Request, n.SHA256); err != nil {
			s.Log.Warn("the button Deny of a notification", "request", n.Request, "error", err)
		}
		return
	}
	s.showSession(n.Agent, n.Session)
}

// showTime limits how long a terminal may take to show a pane.
const showTime = 3 * time.Second

// typingSpan is how long after a key press a terminal is left alone: what you type must not
// land in another pane because a button was pressed.
const typingSpan = 3 * time.Second

// showSession brings the pane of a session forward, or says where it is.
func (s *Service) showSession(agent, session string) {
	ctx, cancel := context.WithTimeout(context.Background(), showTime)
	defer cancel()
	one, ok := findSession(s.sessions.List(false), agent, session)
	if !ok || !canShow(&one) {
		return
	}
	server := &tmux.Server{Socket: one.Server}
	clients, err := server.Clients(ctx)
	if err != nil {
		return
	}
	for _, c := range clients {
		if s.now().Sub(c.Used) < typingSpan {
			_ = server.Message(ctx, c.Name, s.AgentTitle(agent)+" waits in "+one.WindowName()) // it may have left
			return
		}
	}
	_, _ = server.Focus(ctx, one.Pane, "") // the pane may be gone
}

// canShow reports whether the pane of a session can be brought forward from here.
func canShow(one *wire.Session) bool {
	return one.Mux == "tmux" && one.Pane != "" && one.Pane != "unknown"
}

func findSession(list []wire.Session, agent, session string) (wire.Session, bool) {
	i := slices.IndexFunc(list, func(one wire.Session) bool { return one.Agent == agent && one.ID == session })
	if i < 0 {
		return wire.Session{}, false
	}
	return list[i], true
}

// tmuxServers returns the tmux servers that a user may be attached to, that of the session
// first.
func (s *Service) tmuxServers(agent, session string) []string {
	var list []string
	add := func(socket string) {
		if !slices.Contains(list, socket) && len(list) < 8 {
			list = append(list, socket)
		}
	}
	known := s.sessions.List(false)
	for _, own := range []bool{true, false} {
		for _, one := range known {
			if one.Mux == "tmux" && own == (one.Agent == agent && one.ID == session) {
				add(one.Server)
			}
		}
	}
	add("")
	return list
}

// machine is the part of the machine that the plan asks about, as it was a moment ago.
type machine struct {
	sessions []wire.Session
	looked   map[string][]string // the panes that are being looked at, by tmux server
	viewed   bool                // a live view is being looked at, which shows everything
}

// lookTime limits one question to tmux.
const lookTime = 2 * time.Second

// readMachine finds out whether the user looks at the panes of sessions, asking each
// tmux server once.
func (s *Service) readMachine(ctx context.Context, due []sessionKey) *machine {
	m := &machine{looked: map[string][]string{}}
	if len(due) == 0 {
		return m
	}
	m.sessions = s.sessions.List(false)
	if m.viewed = s.devices != nil && s.devices.IsVisible() || s.isViewed(ctx); m.viewed {
		return m
	}
	for _, key := range due {
		one, ok := m.current(key.agent, key.session)
		if !ok || one.Mux != "tmux" || one.Pane == "" {
			continue
		}
		if _, asked := m.looked[one.Server]; !asked {
			m.looked[one.Server] = s.panesLookedAt(ctx, one.Server)
		}
	}
	return m
}

// panesLookedAt returns the panes of a tmux server that are being looked at now.
func (s *Service) panesLookedAt(ctx context.Context, server string) []string {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	clients, err := (&tmux.Server{Socket: server}).Clients(ctx)
	if err != nil {
		return nil
	}
	var panes []string
	for _, c := range clients {
		if c.IsWatching(s.now()) {
			panes = append(panes, c.Pane)
		}
	}
	return panes
}

// isViewed reports whether the tmux pane of a live view is being looked at.
func (s *Service) isViewed(ctx context.Context) bool {
	for _, pid := range s.requests.Viewers() {
		environ, err := s.Processes.Environ(pid)
		if err != nil {
			continue
		}
		env := paths.GetenvFrom(environ)
		server, _, inTmux := strings.Cut(env("TMUX"), ",")
		if pane := env("TMUX_PANE"); inTmux && pane != "" && slices.Contains(s.panesLookedAt(ctx, server), pane) {
			return true
		}
	}
	return false
}

func (m *machine) isLooking(agent, session string) bool {
	if m.viewed {
		return true
	}
	one, ok := m.current(agent, session)
	return ok && one.Mux == "tmux" && one.Pane != "" && slices.Contains(m.looked[one.Server], one.Pane)
}

func (m *machine) current(agent, session string) (wire.Session, bool) {
	return findSession(m.sessions, agent, session)
}
