package hub

import (
	"encoding/json"
	"os"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Do calls one of the hub's methods for the program that runs this hub. Nobody
// has to vouch for it: it is no peer on the socket, and could do as it likes
// with the hub anyway. That is how verify is its own person.
func (h *Hub) Do(name string, params, result any) error {
	m, ok := h.rpc[name]
	if !ok {
		return wire.Errorf(wire.CodeNoMethod, "there is no method %q", name)
	}
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	said, bad := m.run(b, proc.Cred{UID: selfUID(), PID: os.Getpid()})
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
// program that runs this hub. See sendTo.
func (h *Hub) Send(agent, session, text string) (delivered bool, err error) {
	return h.sendTo(agent, session, text)
}
