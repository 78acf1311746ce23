package server

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"sync"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// authenticator decides who may connect, and what they may publish and subscribe to. Members
// prove their key with every connection; a join code opens one that can only ask to join.
type authenticator struct {
	roster *roster
	secret string // of the exchange's own connection
	now    func() time.Time

	// disconnect ends a connection.
	disconnect func(id uint64)

	mu      sync.Mutex
	clients map[string]uint64 // the connection of each member; it may have ended
	owners  bounded.Map[uint64, string]
}

// keepOwners is for how many connections it's remembered whose they were.
const keepOwners = 4 * maxMembers

// memberOf returns the member that has a connection, or had it; "" for none.
func (a *authenticator) memberOf(client uint64) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, _ := a.owners.Get(client)
	return id
}

const exchangeUser = "exchange"

func newAuthenticator(r *roster, now func() time.Time) *authenticator {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return &authenticator{roster: r, secret: hex.EncodeToString(b[:]), now: now, clients: map[string]uint64{}}
}

// Check implements [nats.Authentication].
func (a *authenticator) Check(c nats.ClientAuthentication) bool {
	o := c.GetOpts()
	switch {
	case c.Kind() != nats.CLIENT:
		return false
	case o.Username == exchangeUser && o.Nkey == "":
		if subtle.ConstantTimeCompare([]byte(o.Password), []byte(a.secret)) != 1 {
			return false
		}
		c.RegisterUser(&nats.User{Username: exchangeUser})
		return true
	case o.Username == protocol.JoinUser && o.Nkey == "":
		if _, ok := a.roster.invited(o.Password, false, a.now()); !ok {
			return false
		}
		inbox := protocol.Inbox("join_"+protocol.JoinInbox(o.Password)) + ".>"
		c.RegisterUser(&nats.User{Username: protocol.JoinUser, Permissions: &nats.Permissions{
			Publish:   &nats.SubjectPermission{Allow: []string{protocol.JoinSubject}},
			Subscribe: &nats.SubjectPermission{Allow: []string{inbox}},
		}, ConnectionDeadline: a.now().Add(time.Minute)})
		return true
	}
	m := a.roster.ofKey(o.Nkey)
	if m == nil || !signedNonce(o.Nkey, o.Sig, c.GetNonce()) {
		return false
	}
	a.mu.Lock()
	if a.roster.ofKey(o.Nkey) == nil { // it was removed just now, and end found no connection
		a.mu.Unlock()
		return false
	}
	before, again := a.clients[m.ID]
	a.clients[m.ID] = c.GetID()
	a.owners.Put(c.GetID(), m.ID, keepOwners)
	a.mu.Unlock()
	if again { // a member has one
		go a.disconnect(before)
	}
	c.RegisterUser(&nats.User{Username: m.Name, Permissions: permissionsOf(m)})
	return true
}

func signedNonce(public, signature string, nonce []byte) bool {
	sig, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		if sig, err = base64.StdEncoding.DecodeString(signature); err != nil {
			return false
		}
	}
	key, err := nkeys.FromPublicKey(public)
	return err == nil && len(nonce) > 0 && key.Verify(nonce, sig) == nil
}

// permissionsOf returns what a member may do. That doesn't include JetStream.
func permissionsOf(m *member) *nats.Permissions {
	p := &nats.Permissions{
		// Not the subjects that a request names: an operator could name one of JetStream's.
		Publish: &nats.SubjectPermission{Allow: []string{protocol.UpSubject(m.ID, protocol.UpEvents),
			protocol.UpSubject(m.ID, protocol.UpState), protocol.UpSubject(m.ID, protocol.UpAsk),
			protocol.ResultSubject(m.ID, "*", "*")}},
		Subscribe: &nats.SubjectPermission{Allow: []string{protocol.Inbox(m.ID) + ".>", protocol.AnswerSubject(m.ID),
			protocol.AttendedSubject}},
	}
	if protocol.SeesOthers(m.Role) {
		p.Subscribe.Allow = append(p.Subscribe.Allow, protocol.LiveSubject("*"))
	}
	if m.Role == protocol.RoleOperator {
		p.Publish.Allow = append(p.Publish.Allow, protocol.AnswerSubject("*"))
		p.Subscribe.Allow = append(p.Subscribe.Allow, protocol.ResultSubject("*", m.ID, "*"))
	}
	return p
}

// end ends the connection of a member that is no longer in the roster.
func (a *authenticator) end(member string) {
	a.mu.Lock()
	id, ok := a.clients[member]
	delete(a.clients, member)
	a.mu.Unlock()
	if ok {
		a.disconnect(id)
	}
}
