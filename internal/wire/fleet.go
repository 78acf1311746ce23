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
	MethodFleetPush   = "fleet.push"   // a policy for every member
	MethodFleetPolicy = "fleet.policy" // which policy applies where
)

// NoFleet is why a command of a fleet can't do anything.
const NoFleet = "this machine is in no fleet; `hookmux fleet init` serves one, `hookmux fleet join CODE` joins one"

// FleetInitParams describes how the fleet is served.
type FleetInitParams struct {
	Program   string   `json:"program"`             // hookmux-fleet on disk
	Listen    string   `json:"listen"`              // host:port
	Advertise []string `json:"advertise,omitempty"` // how other machines reach it: host:port
	Name      string   `json:"name"`                // of this machine in the fleet
	NATS      []string `json:"nats,omitempty"`      // your own cluster, which stores what is under way
	Creds     string   `json:"creds,omitempty"`     // the file with which it lets us in
	Postgres  string   `json:"postgres,omitempty"`  // where the fleet's journal is, in place of a file
}

// FleetCode is a join code.
type FleetCode struct {
	Code  string    `json:"code"`
	Role  string    `json:"role"`
	Until time.Time `json:"until"`
}

// FleetInviteParams is the role a machine is invited as.
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

// FleetLeft is the result of leaving.
type FleetLeft struct {
	Name string `json:"name"`
	// Told says that the fleet's server was notified; otherwise an operator should remove it.
	Told   bool   `json:"told"`
	Why    string `json:"why,omitempty"`    // it doesn't know
	Unsent int    `json:"unsent,omitempty"` // events that never reached the fleet
	// Kept lists what couldn't be deleted in your cluster or database, and why.
	Kept []string `json:"kept,omitempty"`
}

// FleetStatus is this machine in its fleet. Joined is false if it's in none.
type FleetStatus struct {
	Joined    bool      `json:"joined"`
	Name      string    `json:"name,omitempty"`
	ID        string    `json:"id,omitempty"`
	Role      string    `json:"role,omitempty"`
	Fleet     string    `json:"fleet,omitempty"` // its public key
	Servers   []string  `json:"servers,omitempty"`
	Serves    bool      `json:"serves,omitempty"` // this machine runs the server
	Listen    string    `json:"listen,omitempty"` // where, if it does
	Content   string    `json:"content,omitempty"`
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero"`
	Why       string    `json:"why,omitempty"`     // it isn't connected
	Backlog   int64     `json:"backlog"`           // events that the fleet doesn't have yet
	Sent      int64     `json:"sent"`              // since the daemon started
	Dropped   int64     `json:"dropped,omitempty"` // lost because the backlog was full, since the daemon started
	Most      int64     `json:"most,omitempty"`    // how large the backlog gets
	Policy    int64     `json:"policy,omitempty"`  // the version in force here
}

// FleetBegun is a fleet that this machine serves now, with a code for the first member.
type FleetBegun struct {
	FleetStatus
	Invitation FleetCode `json:"invitation"`
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

// PolicyFile is a file of a policy.
type PolicyFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// FleetPushParams is a policy for every member; without files it takes the one before away.
type FleetPushParams struct {
	Files []PolicyFile `json:"files"`
}

// PolicyContact is a hook call of an agent that was decided under a policy.
type PolicyContact struct {
	Version int64     `json:"version"`
	Agent   string    `json:"agent"`
	Event   string    `json:"event"`
	At      time.Time `json:"at"`
}

// MemberPolicy is the policy in force on a machine.
type MemberPolicy struct {
	Version int64          `json:"version"` // 0: none
	Since   time.Time      `json:"since,omitzero"`
	Why     string         `json:"why,omitempty"`     // a newer one isn't in force
	Contact *PolicyContact `json:"contact,omitempty"` // the proof: an agent's call that it decided
}

// FleetPolicy is the fleet's newest policy, and what of it the machines have.
type FleetPolicy struct {
	Version int64               `json:"version"` // 0: none was ever pushed
	By      string              `json:"by,omitempty"`
	Pushed  time.Time           `json:"pushed,omitzero"`
	Files   []string            `json:"files"`
	Members []FleetMemberPolicy `json:"members"`
}

// FleetMemberPolicy is the policy of one member.
type FleetMemberPolicy struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Online bool   `json:"online"`
	MemberPolicy
}

// FleetLogParams asks for events of the fleet's journal; the answer is a [QueryResult].
type FleetLogParams struct {
	Host string `json:"host,omitempty"` // only this machine's, by name or ID
	QueryParams
}
