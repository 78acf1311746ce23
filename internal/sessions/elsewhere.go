package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// Elsewhere is the sessions on other machines. Their ids have a host in front.
type Elsewhere interface {
	Sessions(all bool) []wire.Session
	// FindSession gives the one you mean; several are those it could be.
	FindSession(name string) (one wire.Session, several []string)
	Session(ctx context.Context, id string) (wire.SessionDetail, *wire.Error)
	Send(ctx context.Context, p wire.SessionSendParams, by string) (wire.SessionSent, *wire.Error)
}

// elsewhereTime is how long another machine may take for an answer.
const elsewhereTime = 20 * time.Second

// findElsewhere finds a session on another machine where there is none here; none is the
// error that said so.
func (s *Service) findElsewhere(name string, none *wire.Error) (wire.Session, *wire.Error) {
	if s.elsewhere == nil || none.Code != wire.CodeGone {
		return wire.Session{}, none
	}
	one, several := s.elsewhere.FindSession(name)
	switch {
	case len(several) > 0:
		return one, wire.Errorf(wire.CodeParams, "%q matches %d sessions; name one by its ID: %s", name, len(several),
			strings.Join(several[:min(4, len(several))], ", "))
	case one.ID == "":
		return one, none
	}
	return one, nil
}

// findHere finds a session of this machine, for what can only be done there.
func (s *Service) findHere(name string) (state.Key, *wire.Error) {
	key, bad := s.view.findSession(name)
	if bad == nil {
		return key, nil
	}
	if one, none := s.findElsewhere(name, bad); none == nil {
		return key, wire.Errorf(wire.CodeConflict, "%s runs on %s; do that there", one.ID, one.Host)
	}
	return key, bad
}

// sendElsewhere gives a session on another machine a text.
func (s *Service) sendElsewhere(p wire.SessionSendParams, peer proc.Cred, none *wire.Error) (any, *wire.Error) {
	one, bad := s.findElsewhere(p.Session, none)
	if bad != nil {
		return nil, bad
	}
	ctx, cancel := context.WithTimeout(s.ctx, elsewhereTime)
	defer cancel()
	p.Session = one.ID
	sent, bad := s.elsewhere.Send(ctx, p, fmt.Sprintf("pid %d", peer.PID))
	if bad != nil {
		return nil, bad
	}
	return sent, nil
}
