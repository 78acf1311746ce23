package server

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// maxMembers limits the size of the fleet, maxInvites how many codes are open at the same time.
const (
	maxMembers = 20_000
	maxInvites = 256
)

const rosterFile = "roster.json"

// roster lists the fleet's members. It is on disk; invitations are not: they are
// short-lived, and a restart voids them.
type roster struct {
	dir   string
	key   nkeys.KeyPair
	fleet string // the key's public half

	mu      sync.Mutex
	members map[string]*member // by id
	byKey   map[string]string  // id by public key
	invites map[[sha256.Size]byte]invite
}

type member struct {
	protocol.Record
	Signed protocol.Signed `json:"signed"`
}

type invite struct {
	role, by string
	until    time.Time
}

func openRoster(dir string, key nkeys.KeyPair) (*roster, error) {
	fleet, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	r := &roster{dir: dir, key: key, fleet: fleet, members: map[string]*member{}, byKey: map[string]string{},
		invites: map[[sha256.Size]byte]invite{}}
	b, err := files.Read(filepath.Join(dir, rosterFile), 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	var list []protocol.Signed
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, rosterFile), err)
	}
	for _, signed := range list {
		record, err := signed.ReadRecord(fleet)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: something other than hookmux-fleet changed it", filepath.Join(dir, rosterFile), err)
		}
		r.members[record.ID] = &member{record, signed}
		r.byKey[record.Key] = record.ID
	}
	return r, nil
}

// save writes the members to disk. The caller holds mu.
func (r *roster) save() error {
	list := []protocol.Signed{}
	for _, id := range sortedKeys(r.members) {
		list = append(list, r.members[id].Signed)
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return files.WriteSynced(filepath.Join(r.dir, rosterFile), b)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// add lets a machine in.
func (r *roster) add(key, name, role, by string, now time.Time) (*member, error) {
	if !nkeys.IsValidPublicUserKey(key) {
		return nil, errors.New("that isn't a member's key")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.members) >= maxMembers {
		return nil, fmt.Errorf("the fleet has %d members, and no more fit", maxMembers)
	}
	id := protocol.MemberID(key)
	if r.members[id] != nil {
		return nil, errors.New("this machine is in the fleet already")
	}
	record := protocol.Record{Fleet: r.fleet, ID: id, Name: r.freeName(name), Role: role, Key: key, Joined: now.UTC(), By: by}
	signed, err := protocol.Sign(r.key, record)
	if err != nil {
		return nil, err
	}
	one := &member{record, signed}
	r.members[id], r.byKey[key] = one, id
	if err := r.save(); err != nil {
		delete(r.members, id)
		delete(r.byKey, key)
		return nil, err
	}
	return one, nil
}

// reservedNames mean something else in commands that take a machine's name.
var reservedNames = []string{"here", "all"}

// freeName returns a name that no member has.
func (r *roster) freeName(name string) string {
	name = protocol.HostName(name)
	free := name
	taken := func(m *member) bool { return m.Name == free || m.ID == free }
	for i := 2; slices.Contains(reservedNames, free) || slices.ContainsFunc(r.list(), taken); i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	return free
}

// list returns the members by id. The caller holds mu.
func (r *roster) list() []*member {
	list := make([]*member, 0, len(r.members))
	for _, id := range sortedKeys(r.members) {
		list = append(list, r.members[id])
	}
	return list
}

func (r *roster) all() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list()
}

func (r *roster) get(id string) *member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.members[id]
}

func (r *roster) ofKey(key string) *member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.members[r.byKey[key]]
}

// find finds a member by id or name.
func (r *roster) find(name string) (*member, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		if m.ID == name || m.Name == name {
			return m, nil
		}
	}
	return nil, mistake("the fleet has no machine %q; `hookmux fleet list` shows them", name)
}

// remove removes a member.
func (r *roster) remove(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.members[id]
	if one == nil {
		return nil
	}
	delete(r.members, id)
	delete(r.byKey, one.Key)
	return r.save()
}

// invite makes a code's secret.
func (r *roster) invite(role, by string, now time.Time) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for hash, one := range r.invites {
		if now.After(one.until) {
			delete(r.invites, hash)
		}
	}
	if len(r.invites) >= maxInvites {
		return "", fmt.Errorf("%d codes are open; wait %s", maxInvites, protocol.CodeLasts)
	}
	secret := protocol.NewSecret()
	r.invites[sha256.Sum256([]byte(secret))] = invite{role: role, by: by, until: now.Add(protocol.CodeLasts)}
	return secret, nil
}

// invited reports whether a code can be used; take uses it up.
func (r *roster) invited(secret string, take bool, now time.Time) (invite, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	hash := sha256.Sum256([]byte(secret))
	one, ok := r.invites[hash]
	if !ok || now.After(one.until) {
		return invite{}, false
	}
	if take {
		delete(r.invites, hash)
	}
	return one, true
}
