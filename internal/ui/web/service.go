// Package web serves hookmux's page for browsers and phones: the requests that wait, what the
// sessions do, and your answers.
//
// Reaching the port proves nothing, since agents can do that, too. Everything except the
// page's own files needs the signature of a device that you paired at a trusted terminal
// (pairing.go, signature.go); an answer carries a signature of its own over what was shown,
// which is kept with the decision (answer.go). The page is served only after `hookmux web on`;
// until then nothing of this package runs.
package web

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// settingsFile is in the state folder, sealed.
const settingsFile = "web.json"

// DefaultListen is where the page is served. The port is fixed, because browsers keep a
// device's key per address; the digits spell HOOK.
const DefaultListen = "127.0.0.1:4665"

// Requests is the part of approvals that the page needs. Devices see requests in full, as you do
// at a trusted terminal.
type Requests interface {
	WaitingInFull() []wire.InboxRequest
	FollowInFull(ctx context.Context, each func(note string, line []byte) bool)
	ReplySigned(p wire.InboxReplyParams, device string, signed ledger.Signature) (wire.InboxReplyResult, *wire.Error)
	// CheckText says why a device may not send a session a text.
	CheckText(session, pin string) *wire.Error
	// Watch notes that a user who may answer looks at the requests.
	Watch() (left func())
}

// Daemon is the part of the daemon that it needs as well.
type Daemon interface {
	// Call runs a method in the daemon's own name.
	Call(ctx context.Context, method string, params json.RawMessage) (any, *wire.Error)
	// FollowSessions passes each change of a session as a line, until ctx ends.
	FollowSessions(ctx context.Context, each func(line []byte) bool)
	// ResumeInTmux resumes a session in a tmux pane of this machine and says where.
	ResumeInTmux(ctx context.Context, record *wire.ResumeRecord) (where string, err error)
	// RecordDevice records what happened to a device.
	RecordDevice(what string, device wire.WebDevice)
	// WarnElsewhere warns you that a device is used from somewhere new.
	WarnElsewhere(device wire.WebDevice)
}

// Machines are the other machines that are paired as devices.
type Machines interface {
	// Links is how many links a machine has open.
	Links(device string) int
	// EndLinks ends them: it may do something else now, or nothing any more.
	EndLinks(device string)
}

// Options configures a service.
type Options struct {
	services.Deps
	Context  context.Context // ends when the daemon does
	Requests Requests
	Daemon   Daemon
	Devices  *devices.Registry
	Machines Machines
}

// Service serves the page while it's switched on.
type Service struct {
	Options
	pairings pairings
	audience *audience
	push     *pusher

	mu       sync.Mutex
	settings settings
	running  *server // nil while nothing is served
	failed   string  // why it isn't, although it's switched on
}

// settings is how the page is served.
type settings struct {
	On bool `json:"on"`
	wire.WebStartParams
}

// New reads what was set up before; nothing is served yet.
func New(o Options) *Service {
	s := &Service{Options: o}
	s.audience = &audience{service: s, pages: map[*page]struct{}{}}
	if err := sealed.Load(o.Dirs.State, settingsFile, &s.settings); err != nil {
		o.Problems.Raise("web", "the page for browsers isn't served: "+err.Error(), "run `hookmux web on` again")
		s.settings = settings{}
	}
	s.push = newPusher(s)
	return s
}

// Run serves the page if it was switched on before, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	s.mu.Lock()
	if s.settings.On {
		s.startLocked()
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.stopLocked()
	s.mu.Unlock()
}

// startLocked begins to serve by the settings.
func (s *Service) startLocked() error {
	s.stopLocked()
	running, err := listen(s, s.settings.WebStartParams)
	if err != nil {
		s.failed = err.Error()
		s.Problems.Raise("web", "the page for browsers isn't served: "+err.Error(),
			"correct it and run `hookmux web on` again, or `hookmux web off`")
		return err
	}
	s.running, s.failed = running, ""
	s.Problems.Clear("web")
	return nil
}

func (s *Service) stopLocked() {
	if s.running != nil {
		s.running.close()
		s.running = nil
	}
	s.failed = ""
	s.audience.endPages(func(*page) bool { return true })
}

// Methods returns what commands ask about the page.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodWebStart:        {Run: s.startMethod},
		wire.MethodWebStop:         {Run: s.stopMethod},
		wire.MethodWebStatus:       {Run: s.statusMethod},
		wire.MethodWebPair:         {Run: s.pairMethod},
		wire.MethodWebPairConfirm:  {Run: s.confirmMethod},
		wire.MethodWebDevices:      {Run: s.devicesMethod},
		wire.MethodWebDeviceRename: {Run: s.renameMethod},
		wire.MethodWebDeviceRemove: {Run: s.removeMethod},
		wire.MethodWebDeviceScope:  {Run: s.scopeMethod},
	}
}

// LongMethods wait for something.
func (s *Service) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodWebPairWait: s.waitMethod}
}

func (s *Service) startMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.WebStartParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.settings
	if p == (wire.WebStartParams{}) { // as it was
		p = before.WebStartParams
	}
	if p.Listen == "" {
		p.Listen = DefaultListen
	}
	if s.running != nil && before.WebStartParams == p {
		return s.statusLocked(), nil
	}
	if err := checkStart(&p); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	s.settings = settings{On: true, WebStartParams: p}
	if err := s.startLocked(); err != nil {
		s.settings = before
		s.Problems.Clear("web")
		if before.On {
			_ = s.startLocked() // what was served before; its failure is a problem of its own
		}
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	if err := sealed.Store(s.Dirs.State, settingsFile, s.settings); err != nil {
		s.Log.Warn("the page is served, but not after a restart of the daemon", "error", err)
	}
	return s.statusLocked(), nil
}

func (s *Service) stopMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
	s.settings.On = false
	s.Problems.Clear("web")
	if err := sealed.Store(s.Dirs.State, settingsFile, s.settings); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the page isn't served any more, but may be again when the daemon "+
			"restarts: %v", err)
	}
	return s.statusLocked(), nil
}

func (s *Service) statusMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusLocked(), nil
}

func (s *Service) statusLocked() wire.WebStatus {
	status := wire.WebStatus{On: s.running != nil, Devices: len(s.browsers()), Pages: s.audience.count(""),
		Error: s.failed}
	if s.running != nil {
		status.URL, status.Listen = s.running.url(), s.running.address
		status.PublicURL, status.TLS = s.settings.PublicURL, s.settings.Cert != ""
	}
	return status
}

// record records what happened to a device.
func (s *Service) record(what string, one device) {
	s.Log.Info("device", "what", what, "id", one.ID, "name", one.Name, "address", one.Address)
	s.Daemon.RecordDevice(what, one.Info(0))
}
