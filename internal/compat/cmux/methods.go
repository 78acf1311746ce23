package cmux

import (
	"encoding/json"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods are cmux's methods but feed.push, which may take long.
func (s *Server) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodFeedList:     services.Read(s.listItems),
		wire.MethodFeedPermit:   services.DecideAsking(s.replyPermission),
		wire.MethodFeedQuestion: services.DecideAsking(s.replyQuestion),
		wire.MethodFeedPlan:     services.DecideAsking(s.replyPlan),
		wire.MethodFeedJump:     services.Read(s.jumpTo),
	}
}

// LongMethods are the methods that may wait for hooks or a person.
func (s *Server) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodFeedPush: {Class: authority.Report, Run: s.pushEvent}}
}

// jumpTo says where a session runs and brings its pane before the person.
func (s *Server) jumpTo(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p struct {
		ID string `json:"workstream_id"`
	}
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	agent, session := s.splitWorkstream(p.ID, "")
	return s.Approvals.Jump(agent, session, peer), nil
}
