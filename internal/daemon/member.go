package daemon

import (
	"os/user"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/member"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// newMember creates this machine's part of a fleet, if it is in one.
func (h *Daemon) newMember() *member.Service {
	return member.New(member.Options{
		Deps: h.deps, Context: h.ctx, Version: h.version, User: userName, Outbox: h.recorder.Reader,
		Requests: h.approvals, Daemon: pageAccess{h}, Hosts: h.hosts, Remotes: h.connector, Policies: h.selection,
		Sessions: func() []wire.Session { return h.sessions.List(false) },
		Content:  func() bool { return h.selection.Config.Settings().Choice(config.FleetContent) == "redacted" },
	})
}

// userName returns who uses this machine.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

// RecordFleet journals what happened to this machine's membership in a fleet.
func (a pageAccess) RecordFleet(what string, details any) {
	a.h.recordOwn(wire.OwnFleet, frame.NewID(), time.Now(), map[string]any{"what": what, "details": details})
}
