package approvals

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/polkit"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

// New opens what lasts and begins with no requests.
func New(o Options) *Service {
	s := &Service{Options: o, queue: queue.NewTable(), decisions: ledger.NewDecisions(o.Dirs.State)}
	s.queue.SetListener(sessionReporter{o.Sessions})
	s.queue.KeepIDs(takeKeptIDs(o.Dirs.State))
	s.windows = newPromptList(s.queue)
	s.overload = &overloadReporter{problems: o.Problems, queue: s.queue}
	s.push = &pushCommand{problems: o.Problems, queue: s.queue, command: o.Settings.PushCommand}
	s.attendance = &attendance{
		away: openAway(filepath.Join(o.Dirs.State, "away.json")),
		watchers: newWatchers(filepath.Join(o.Dirs.Runtime, "watchers.json"), o.Processes, o.MayAnswer,
			o.Stopping),
		pushWorks: s.push.isWorking, reaches: s.reachesUser, queue: s.queue, catalogue: o.Catalogue,
		after: func(wait time.Duration, do func()) { o.Background.After(o.Context, wait, do) },
	}
	s.push.canAnyoneAnswer = s.attendance.anyoneThere
	var err error
	if s.permissions, err = ledger.OpenPermissions(o.Dirs.State); err != nil {
		o.Problems.Raise("permissions", "saved permissions aren't used: "+err.Error(),
			"save those you want again: `hookmux approve --always` while a request is waiting")
	}
	s.proofs = &Proofs{Polkit: polkit.System(), deps: o.Deps, queue: s.queue, findOther: s.findOther, recordOwn: o.Recorder.RecordOwn}
	if s.proofs.pin, err = ledger.OpenPIN(o.Dirs.State); err != nil {
		o.Problems.Raise("pin", "nothing can be approved: "+err.Error(), "to go on without a PIN, remove the file")
	}
	return s
}

// Proofs returns what you must prove besides your trusted terminal.
func (s *Service) Proofs() *Proofs { return s.proofs }

// Run passes requests to notify.command until ctx ends.
func (s *Service) Run(ctx context.Context) { s.push.followQueue(ctx) }

// keptIDsFile holds the ids of requests that waited when a daemon stopped, for the next one.
const keptIDsFile = "waiting.json"

// takeKeptIDs reads the ids that the daemon before left, and removes them. A file that
// hookmux did not write gives none: requests get new ids then.
func takeKeptIDs(dir string) []queue.KeptID {
	var list []queue.KeptID
	if sealed.Load(dir, keptIDsFile, &list) != nil {
		list = nil
	}
	_ = os.Remove(filepath.Join(dir, keptIDsFile))
	return list
}

// EndRequests lets everybody go who waits, once those who were answered have
// passed it on.
func (s *Service) EndRequests() {
	if waited := s.queue.Close(); len(waited) > 0 {
		if err := sealed.Store(s.Dirs.State, keptIDsFile, waited); err != nil {
			s.Log.Warn("requests that wait get new ids in the next daemon", "error", err)
		}
	}
	for end := time.Now().Add(time.Second); s.queue.DeliveryPending() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// Close ends the record of decisions.
func (s *Service) Close() { s.decisions.Close() }
