package daemon

import "encoding/json"

// CallMethod calls one of the daemon's methods for the program that runs this daemon. It needs no
// authority: it is no peer on the socket, and could do as it likes with the daemon anyway. This
// is how verify answers its own requests.
func (h *Daemon) CallMethod(name string, params, result any) error {
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	said, bad := h.server.Call(h.ctx, name, b)
	if bad != nil {
		return bad
	}
	if result == nil {
		return nil
	}
	if b, err = json.Marshal(said); err != nil {
		return err
	}
	return json.Unmarshal(b, result)
}

// Send puts text into a session through the plugin of its agent, for the
// program that runs this daemon.
func (h *Daemon) Send(agent, session, text string) (delivered bool, err error) {
	return h.outbox.Send(h.ctx, agent, session, text)
}

// CountSink adds or removes one of the ways in which a user who runs the daemon inside their own
// program is notified of requests. The setting notify.command is the other.
func (h *Daemon) CountSink(more bool) {
	if more {
		h.approvals.AddSink(1)
	} else {
		h.approvals.AddSink(-1)
	}
}
