package cmux

import (
	"encoding/json"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods are cmux's methods but feed.push, which may take long.
func (s *Server) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodCmuxList:     {Run: s.listItems},
		wire.MethodCmuxPermit:   {RunAsking: s.replyPermission},
		wire.MethodCmuxQuestion: {RunAsking: s.replyQuestion},
		wire.MethodCmuxPlan:     {RunAsking: s.replyPlan},
		wire.MethodCmuxJump:     {Run: s.jumpTo},
	}
}

// LongMethods returns the methods that may wait for hooks or the user.
func (s *Server) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodCmuxPush: s.pushEvent}
}

// jumpTo says where a session runs and brings its pane to the front.
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
