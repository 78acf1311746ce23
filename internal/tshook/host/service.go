// Package host implements the service that runs hooks written in TypeScript and JavaScript:
// which files are loaded on whose behalf, which hooks they become, and what they may ask of
// the daemon. The files run in package tshook.
package host

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configures the service, in addition to what every service is given.
type Options struct {
	Version   string
	Selection Selection
	People    People
	Plugins   Plugins
	// Environment is added to the environment of what a hook starts.
	Environment func(hookID string) []string
	// Journal stores an event of hookmux's own.
	Journal func(what, id string, at time.Time, payload any)
	// Accepted says what of the user's files is in force. If it is nil, they are used as
	// they are.
	Accepted *accepted.Store
	// HookReloaded is called when a hook was loaded without an error.
	HookReloaded func(hookID string)
}

// Selection knows which hooks apply where.
type Selection interface {
	Settings() *config.Settings
	// Refresh reads again what applies in a project.
	Refresh(root string)
	// FindProject is the root of the project a folder is in, "" for none.
	FindProject(cwd string) string
	// Trusted reports whether a project's hooks are trusted as they are.
	Trusted(root string) bool
	// InnerHooks are the hooks that count for an inner event of the process.
	InnerHooks(ev *event.Event, peer proc.Cred) []*hook.Entry
}

// People answers what files ask.
type People interface {
	// AskUser waits for the user's answer: the chosen option, "yes" or "no", or
	// a text of their own.
	AskUser(ctx context.Context, ev *event.Event, q queue.Question) (string, error)
	// CanAnyoneAnswer reports whether a user could answer now.
	CanAnyoneAnswer() bool
}

// Plugins are hookmux's plugins inside agents.
type Plugins interface {
	// Send sends a text to a session; false without an error if no plugin listens.
	Send(agent, session, text string) (delivered bool, err error)
	// Call has a plugin do something and waits for the result. heard is false if no
	// plugin listens.
	Call(ctx context.Context, agent, session string, call json.RawMessage) (done wire.OutboxDone, heard bool, err error)
}

// Service runs the files. New makes it ready; Close ends it.
type Service struct {
	ctx     context.Context // ends when the daemon does
	deps    services.Deps
	options Options

	files    *fileTable
	launches *launchList
	actions  *actionLog
	queued   sync.Map // sessions that messages wait for, by sessionKey
	closing  sync.Once

	mu     sync.Mutex
	folder []string // names in the user's folder, as last seen
}

// sessionKey names an agent's session.
type sessionKey struct{ agent, session string }

// New makes the service. Call OpenLaunches before the first event.
func New(ctx context.Context, deps services.Deps, o Options) *Service {
	s := &Service{ctx: ctx, deps: deps, options: o}
	s.files = newFileTable(ctx, deps, s.options.Accepted, s.newEngine)
	s.launches = newLaunchList(ctx, deps, s.launchEnded)
	s.actions = newActionLog(s.writeAction)
	return s
}

// newEngine makes the engine that files run in.
func (s *Service) newEngine(timeout time.Duration) *tshook.Engine {
	return tshook.New(tshook.Host{
		Asker: asker{s}, Sender: sender{s}, Recorder: recorder{s}, Model: models{s},
		ChildEnv: func(path string) []string { return s.options.Environment(oneWord(s.files.idOf(path))) },
		Changed:  s.fileReloaded,
		Strained: func() { s.deps.Background.Go(s.files.releaseMemory) },
		Go:       s.deps.Background.Go,

		Catalogue: s.deps.Catalogue, CacheDir: filepath.Join(s.deps.Dirs.State, "modules"),
		HookTimeout: timeout, Version: s.options.Version,
	})
}

// oneWord returns a hook's id as one word: a variable separates ids by blanks.
func oneWord(id string) string { return strings.Join(strings.Fields(id), "_") }

// fileReloaded is called when a file was loaded, for the first time or again.
func (s *Service) fileReloaded(m *tshook.Hook) {
	s.files.noteChange()
	info := m.Info()
	if store := s.options.Accepted; store != nil && len(info.Errors) == 0 {
		store.MarkLoaded(m.Path())
	}
	if len(info.Errors) == 0 && s.deps.Problems.Any() {
		s.deps.Problems.ClearExcept(problemKey(m.Path()), nil)
		if id := s.files.idOf(m.Path()); id != "" {
			s.options.HookReloaded(id)
		}
	}
}

// Version changes whenever entries may have to be made again.
func (s *Service) Version() uint64 { return s.files.version.Load() }

// NoteChange wakes what waits for changes: what files listen to may be different.
func (s *Service) NoteChange() { s.files.changes.announceChange() }

// LoadChanged loads the files again whose changes the user accepted.
func (s *Service) LoadChanged() {
	if engine := s.files.currentEngine(); engine != nil {
		engine.LoadStale(s.ctx)
	}
}

// Files returns every file that hooks are made of and whose changes take effect at once. An
// agent that writes to one rewrites its own guard.
func (s *Service) Files() []string { return s.files.sourceFiles() }

// ForgetSession drops what is kept about a session that ended without saying so.
func (s *Service) ForgetSession(agent, session string) {
	s.queued.Delete(sessionKey{agent, session})
	if engine := s.files.currentEngine(); engine != nil {
		engine.Forget(agent, session)
	}
}

// Close ends all files and writes what they did. It may be called again.
func (s *Service) Close() {
	s.closing.Do(func() {
		s.launches.stopWatching()
		s.files.closeAll()
		s.actions.stopWriting()
	})
}

func (s *Service) launchEnded(one *launched) { s.files.setWanted(one.ownerName(), nil, 0) }
