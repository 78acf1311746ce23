package daemon

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// This file lets a daemon make room for a newer one.
//
// A newer client shows an older daemon, by its version in the frame, that it was replaced on
// disk. The daemon then makes room, never while a request waits; the next hook starts the new
// one. It never goes for an older client, nor on the client's word alone: the program on disk
// must really be newer.

// renewal decides whether the daemon makes room.
type renewal struct {
	Context context.Context // ends when the daemon does
	// Background runs what the daemon waits for when it stops.
	Background *services.Background
	Version    string     // of the daemon
	Program    string     // the daemon's program on disk; "" switches renewal off
	Waiting    func() int // how many calls are being decided
	Stop       func(why string)

	busy atomic.Bool
}

// Methods returns the methods of the daemon that this service answers.
func (s *renewal) Methods() map[string]services.Method {
	return map[string]services.Method{wire.MethodRenew: {Run: s.renewMethod}}
}

// MetVersion records the version of a client.
func (s *renewal) MetVersion(theirs string) {
	if s.Program == "" || version.Compare(theirs, s.Version) <= 0 || !s.busy.CompareAndSwap(false, true) {
		return
	}
	s.Background.Go(func() {
		defer s.busy.Store(false)
		result := s.renew(theirs)
		if result.Leaving {
			s.Stop(result.Why)
			return
		}
		// Asked again by every frame of a newer client: once in a while is
		// enough to look at the disk.
		select {
		case <-s.Context.Done():
		case <-time.After(5 * time.Second):
		}
	})
}

func (s *renewal) renew(theirs string) wire.RenewResult {
	if version.Compare(theirs, s.Version) <= 0 {
		return wire.RenewResult{Why: "the daemon is " + s.Version + ", which is not older than " + theirs}
	}
	if s.Waiting() > 0 {
		return wire.RenewResult{Why: "requests are waiting for a decision; ask again later"}
	}
	ctx, cancel := context.WithTimeout(s.Context, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.Program, "--version").Output()
	if err != nil {
		return wire.RenewResult{Why: s.Program + " does not run: " + err.Error()}
	}
	if s.Waiting() > 0 {
		return wire.RenewResult{Why: "requests are waiting for a decision; ask again later"}
	}
	fields := strings.Fields(string(out))
	if len(fields) == 0 || version.Compare(fields[len(fields)-1], s.Version) <= 0 {
		return wire.RenewResult{Why: "the program on disk is not newer than this daemon"}
	}
	return wire.RenewResult{Leaving: true, Why: "makes room for " + fields[len(fields)-1]}
}

func (s *renewal) renewMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RenewParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if s.Program == "" {
		return wire.RenewResult{Why: "this daemon does not know its program on disk"}, nil
	}
	result := s.renew(p.Version)
	if result.Leaving {
		// The answer goes out first.
		s.Background.After(s.Context, 10*time.Millisecond, func() { s.Stop(result.Why) })
	}
	return result, nil
}
