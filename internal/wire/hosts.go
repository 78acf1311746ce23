package wire

import (
	"strings"
	"time"
)

// MethodHosts lists the other machines whose sessions and requests show up here.
const MethodHosts = "hosts.list"

// How the link to a host is, as [Host.State] has it.
const (
	HostConnecting = "connecting" // there was no link yet
	HostConnected  = "connected"
	HostLost       = "lost"    // the link was cut, and is tried again
	HostRefused    = "refused" // that machine doesn't accept this one, or broke the rules of the link
)

// Host is another machine whose sessions and requests show up here.
type Host struct {
	Name   string    `json:"name"`
	Kind   string    `json:"kind"`             // HostRemote or HostFleet
	Target string    `json:"target,omitempty"` // how it is reached: user@host, an address
	Scope  string    `json:"scope"`            // read or answer
	State  string    `json:"state"`
	Since  time.Time `json:"since,omitzero"` // of the state
	Why    string    `json:"why,omitempty"`  // it isn't connected
	// Version is that of hookmux there, "" until it was connected once.
	Version  string `json:"version,omitempty"`
	Sessions int    `json:"sessions"`
	Waiting  int    `json:"waiting"`
}

// How another machine is known here: over ssh, or by the fleet.
const (
	HostRemote = "remote"
	HostFleet  = "fleet"
)

// hostMark separates a host's name from an id there.
const hostMark = "/"

// OnHost returns the id that something has here whose id on a host is id.
func OnHost(host, id string) string { return host + hostMark + id }

// SplitHost splits an id: the host, "" for this machine, and the id there. A session
// of this machine may have a slash in its id: ask whether there is such a host.
func SplitHost(id string) (host, there string) {
	host, there, found := strings.Cut(id, hostMark)
	if !found || !IsHostName(host) {
		return "", id
	}
	return host, there
}

// maxHostName is how long the name of a host may be.
const maxHostName = 32

// IsHostName reports whether a host may be called this: small letters, digits, dots,
// dashes and underscores, beginning with a letter or digit.
func IsHostName(name string) bool {
	if name == "" || len(name) > maxHostName {
		return false
	}
	for i, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return true
}
