// Package selection says which hooks, guards and settings apply to an event: the user's,
// those of the project it happens in and of the project its session started in, as far as
// the user trusts these.
//
// Contract: files are read a few times a second at most, and at once after the daemon
// itself changed them. A folder that doesn't answer delays only its own events, for a
// moment. What is weaker than before becomes active only when you accept it. The parts
// below are config (layers of settings), registry (files of hooks) and trust (which content
// of a project is trusted).
package selection

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/origins"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// TSHooks are the TypeScript hooks, as files say them.
type TSHooks interface {
	// ReadFolder reads the user's folder of hooks again.
	ReadFolder()
	// Version changes whenever entries may have to be made again.
	Version() uint64
	// BeginRefresh begins to make entries; known: some were made before.
	BeginRefresh(known bool)
	// Registered makes the entries of a registration that names a file.
	Registered(reg registry.Entry, force *trust.TrustedContent, settings *config.Settings) ([]*hook.Entry, error)
	// Entries returns the hooks of files that no registration names.
	Entries(settings *config.Settings, forces [2]*trust.TrustedContent) []*hook.Entry
	// LoadChanged reloads files whose accepted version changed.
	LoadChanged()
	// Files are the files that agents must not write.
	Files() []string
	// CheckSetting says what is wrong with a value of the setting modules.
	CheckSetting(text string) error
	// CheckSyntax returns the first error in a hook's file, or in one it imports.
	CheckSyntax(path string) error
	// ResolveTarget turns the target that was typed into the one written to the file.
	ResolveTarget(reg *hook.Registration, scope, cwd string, rootFor func(cwd string) string) error
	// NoteChange wakes waiters because other hooks may be active now.
	NoteChange()
}

// Proofs keeps the settings that are [config.Sealed].
type Proofs interface {
	// ShowProof puts what is in force into a setting.
	ShowProof(wire.Setting) wire.Setting
	// SetProof changes one; nil is its default.
	SetProof(key string, value any, pin string, peer proc.Cred) *wire.Error
}

// Options configures a service.
type Options struct {
	services.Deps
	TSHooks TSHooks
	// Extra are hooks of the program that runs the daemon.
	Extra []*hook.Entry
	// Environment lets HOOKMUX_* settings count.
	Environment []string
	// Context ends when the daemon does.
	Context context.Context
	// Accepted says what of the user's files is in force. Nil: whatever they
	// hold.
	Accepted *accepted.Store
	// Mark signs what handlers find in their environment.
	Mark func(id string) string
	// Proofs keeps the settings about what approvals ask for: no matter of files
	// that anybody may edit.
	Proofs func() Proofs
	// Spent knows what agents used; nil if it isn't known.
	Spent budget.Spent
	// SettingsChanged is called for every setting that was changed.
	SettingsChanged func()
}

// Service says what applies: settings, guards and registrations, for the place an
// event comes from. Files are looked at again a few times a second at most, and
// at once after the daemon itself changed them.
type Service struct {
	Options
	Config   *config.Loader
	Registry *registry.Registry
	Trust    *trust.Store
	Off      *OffSwitch
	Pauses   *Pauses
	// Acceptance handles the changes that wait for you.
	Acceptance *Acceptance
	edits      *edits
	sources    *sources.Sources
	handlers   handler.Deps
	allowances allowances
	lifts      budget.Lifts
	warnings   budget.Warnings
	counts     *facts.Tracker // of what happens in sessions
	loads      timedLoads
	levelKeys  sync.Map // agent → its setting of the approval policy

	noting            sync.Mutex
	covered           []guardnote.Cover // by what counts everywhere
	coveredKnown      bool
	noteDue           atomic.Bool // what is covered could not be written down
	coveredInProjects map[guardnote.Cover]bool

	starts *origins.Log // where sessions started
	policy fleetPolicy

	mu    sync.Mutex
	views bounded.Map[places, *view]
	// troubled are the places where something can't be read; they're checked again when the
	// problems are listed.
	troubled map[places]bool
	folders  bounded.Map[string, folder] // cwd → project, for a moment
}

// places are the projects whose hooks count for an event: where it happens,
// and where its session started.
type places struct{ here, start string }

// view is everything that counts in one pair of places, made ready.
type view struct {
	settings [2]*config.Settings
	sets     [2]*registry.Set
	trusted  [2]*trust.TrustedContent
	tsHooks  uint64 // version of the TypeScript hooks it was made of
	// accepted is the version of the accepted state it was made of.
	accepted int
	rules    *ruleset.Loaded // that count everywhere
	pauses   []sources.Pause
	entries  []*hook.Entry
	looked   atomic.Int64 // when, in Unix nanoseconds

	mu     sync.Mutex
	byType map[typeKey][]*hook.Entry
}

func (v *view) lookedAt() time.Time { return time.Unix(0, v.looked.Load()) }

type typeKey struct {
	agent, native string
	kind          event.Kind
}

const (
	// LoadAgain is how long what was read from files counts without a look.
	LoadAgain   = 200 * time.Millisecond
	keepViews   = 128
	keepFolders = 1024
)

// folder is where a folder belongs, as it was seen last.
type folder struct {
	root       string
	repository string // that it is in
	until      time.Time
}
