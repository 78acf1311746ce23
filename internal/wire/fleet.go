package wire

import "time"

// Methods about the fleet that this machine belongs to.
const (
	MethodFleetInit   = "fleet.init" // serves a fleet here
	MethodFleetJoin   = "fleet.join"
	MethodFleetLeave  = "fleet.leave"
	MethodFleetInvite = "fleet.invite"
	MethodFleetRemove = "fleet.remove"
	MethodFleetStatus = "fleet.status"
	MethodFleetList   = "fleet.list"
	MethodFleetLog    = "fleet.log"
)

// FleetInitParams says how the fleet is served.
type FleetInitParams struct {
	Program   string   `json:"program"`             // hookmux-fleet on disk
	Listen    string   `json:"listen"`              // host:port
	Advertise []string `json:"advertise,omitempty"` // how other machines reach it: host:port
	Name      string   `json:"name"`                // of this machine in the fleet
}

// FleetCode is a join code.
type FleetCode struct {
	Code  string    `json:"code"`
	Role  string    `json:"role"`
	Until time.Time `json:"until"`
}

// FleetInviteParams says as what a machine is invited.
type FleetInviteParams struct {
	Role string `json:"role,omitempty"`
}

// FleetJoinParams joins a fleet.
type FleetJoinParams struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// FleetMemberParams names a member by its name or id.
type FleetMemberParams struct {
	Member string `json:"member"`
}

// FleetLeaveParams leaves the fleet; End ends it, on the machine that serves it.
type FleetLeaveParams struct {
	End bool `json:"end,omitempty"`
}

// FleetLeft says what became of leaving.
type FleetLeft struct {
	Name string `json:"name"`
	// Told says that the fleet's server knows; otherwise an operator should remove it.
	Told   bool `json:"told"`
	Unsent int  `json:"unsent,omitempty"` // events that never reached the fleet
}

// FleetStatus is this machine in its fleet. Joined is false where it's in none.
type FleetStatus struct {
	Joined    bool      `json:"joined"`
	Name      string    `json:"name,omitempty"`
	ID        string    `json:"id,omitempty"`
	Role      string    `json:"role,omitempty"`
	Fleet     string    `json:"fleet,omitempty"` // its public key
	Servers   []string  `json:"servers,omitempty"`
	Serves    bool      `json:"serves,omitempty"` // this machine runs the server
	Content   string    `json:"content,omitempty"`
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero"`
	Why       string    `json:"why,omitempty"`     // it isn't connected
	Backlog   int64     `json:"backlog"`           // events that the fleet doesn't have yet
	Sent      int64     `json:"sent"`              // since the daemon started
	Dropped   int64     `json:"dropped,omitempty"` // lost because the backlog was full, since the daemon started
}

// FleetMember is a machine of the fleet.
type FleetMember struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Joined  time.Time `json:"joined"`
	By      string    `json:"by,omitempty"` // who invited it
	Online  bool      `json:"online"`
	Seen    time.Time `json:"seen,omitzero"`
	Version string    `json:"hookmux,omitempty"`
	Backlog int64     `json:"backlog,omitempty"`
	Refused int64     `json:"refused,omitempty"` // messages the server didn't take
	Why     string    `json:"why,omitempty"`
}

// FleetLogParams asks for the fleet's newest events.
type FleetLogParams struct {
	Host  string    `json:"host,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Limit int       `json:"limit,omitempty"`
}

// FleetEvent is an event of a machine in the fleet's journal.
type FleetEvent struct {
	Host    string    `json:"host"`
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Kind    string    `json:"kind"`
	Tool    string    `json:"tool,omitempty"`
	Session string    `json:"session,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	Verdict string    `json:"verdict,omitempty"`
	By      string    `json:"by,omitempty"`
}

// FleetLog is a page of them, the newest first.
type FleetLog struct {
	Events []FleetEvent `json:"events"`
	More   bool         `json:"more,omitempty"`
}
