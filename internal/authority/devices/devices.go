// Package devices knows who may decide from elsewhere: browsers and other machines that
// you paired, each by its key. Reaching a port or a socket proves nothing, since agents can
// do that, too; a device signs what it asks and what it answers (signature.go).
package devices

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Max bounds how many may be paired.
const Max = 64

// file is in the state folder, sealed.
const file = "web-devices.json"

// useWritten is how old the time of a device's last use on disk may be.
const useWritten = 10 * time.Minute

// Host is the kind of a device that is hookmux on another machine. Browsers have no kind.
const Host = "host"

// Device is a browser, or another machine, that you paired.
type Device struct {
	ID      string        `json:"id"`
	Kind    string        `json:"kind,omitempty"`
	Name    string        `json:"name"`
	Scope   string        `json:"scope"`
	Key     []byte        `json:"key"` // 0x04, X and Y of a point on P-256
	Paired  time.Time     `json:"paired"`
	Used    time.Time     `json:"used,omitzero"`
	Address string        `json:"address,omitempty"`
	Browser string        `json:"browser,omitempty"`
	Push    *Subscription `json:"push,omitempty"`
}

// Subscription says where a browser wants its notifications.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256DH   []byte `json:"p256dh"`
	Auth     []byte `json:"auth"`
}

// PublicKey reads the device's key.
func (d *Device) PublicKey() (*ecdsa.PublicKey, error) {
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), d.Key)
}

// Info returns the device as commands show it, with so many pages or links open.
func (d *Device) Info(open int) wire.WebDevice {
	sum := sha256.Sum256(d.Key)
	return wire.WebDevice{ID: d.ID, Kind: d.Kind, Name: d.Name, Scope: d.Scope, Paired: d.Paired, Used: d.Used,
		Address: d.Address, Browser: d.Browser, Pages: open, Push: d.Push != nil, Key: hex.EncodeToString(sum[:])}
}

// By returns how decisions name the device.
func (d *Device) By() string {
	if d.Kind == Host {
		return fmt.Sprintf("%s (host %s)", d.Name, d.ID)
	}
	return fmt.Sprintf("%s (device %s)", d.Name, d.ID)
}

// HostID returns the id of a machine with this key: both sides know it without telling each
// other.
func HostID(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:4])
}

// RandomID returns an id of n random bytes.
func RandomID(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Registry is the devices that are paired, also on disk.
type Registry struct {
	deps services.Deps

	mu      sync.Mutex
	paired  []Device
	written map[string]time.Time // when the last use of each was written down
}

// Open reads which devices are paired.
func Open(deps services.Deps) *Registry {
	r := &Registry{deps: deps, written: map[string]time.Time{}}
	if err := sealed.Load(deps.Dirs.State, file, &r.paired); err != nil {
		deps.Problems.Raise("web.devices", "paired devices aren't believed: "+err.Error(),
			"pair them again with `hookmux web pair`, and machines with `hookmux remote add`")
		r.paired = nil
	}
	return r
}

// List gives all of them.
func (r *Registry) List() []Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.paired)
}

// Get finds a device by its id.
func (r *Registry) Get(id string) (Device, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.paired, func(one Device) bool { return one.ID == id })
	if i < 0 {
		return Device{}, false
	}
	return r.paired[i], true
}

// Find finds a device by what you call it.
func (r *Registry) Find(name string) (Device, *wire.Error) {
	var found []Device
	for _, one := range r.List() {
		if one.ID == name || one.Name == name {
			return one, nil
		}
		if name != "" && strings.HasPrefix(one.ID, name) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Device{}, wire.Errorf(wire.CodeGone, "there's no device %q; `hookmux web devices` lists them", name)
	}
	return Device{}, wire.Errorf(wire.CodeParams, "several devices begin with %q; `hookmux web devices` lists them", name)
}

// Add pairs a device. One with the same id is replaced.
func (r *Registry) Add(fresh Device) error {
	return r.change(func(list []Device) []Device {
		list = slices.DeleteFunc(list, func(one Device) bool { return one.ID == fresh.ID })
		return append(list, fresh)
	})
}

// change changes the list, on disk first if that is what matters.
func (r *Registry) change(edit func(list []Device) []Device) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := edit(slices.Clone(r.paired))
	if err := sealed.Store(r.deps.Dirs.State, file, fresh); err != nil {
		return err
	}
	r.paired = fresh
	return nil
}

// Update changes one device.
func (r *Registry) Update(id string, edit func(*Device)) error {
	return r.change(func(list []Device) []Device {
		for i := range list {
			if list[i].ID == id {
				edit(&list[i])
			}
		}
		return list
	})
}

// Drop removes a device from memory whatever is on disk: it's no longer accepted.
func (r *Registry) Drop(id string) error {
	without := func(list []Device) []Device {
		return slices.DeleteFunc(list, func(one Device) bool { return one.ID == id })
	}
	err := r.change(without)
	if err != nil {
		r.mu.Lock()
		r.paired = without(r.paired)
		r.mu.Unlock()
	}
	return err
}

// NoteUse notes that a device was used, and reports whether that was from another
// network or with another browser than before.
func (r *Registry) NoteUse(id, address, browser string, now time.Time) (before Device, elsewhere bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.paired, func(one Device) bool { return one.ID == id })
	if i < 0 {
		return Device{}, false
	}
	one := &r.paired[i]
	before = *one
	elsewhere = one.Browser != "" && one.Browser != browser || one.Address != "" && !sameNetwork(one.Address, address)
	one.Used, one.Address, one.Browser = now, address, browser
	if elsewhere || now.Sub(r.written[id]) > useWritten {
		r.written[id] = now
		if err := sealed.Store(r.deps.Dirs.State, file, r.paired); err != nil {
			r.deps.Log.Warn("the last use of a device isn't written down", "error", err)
		}
	}
	return before, elsewhere
}

// sameNetwork reports whether two addresses are of one network, by rule of thumb:
// phones get another address all the time.
func sameNetwork(a, b string) bool {
	network := func(s string) string {
		ip := net.ParseIP(s)
		if v4 := ip.To4(); v4 != nil {
			return v4.Mask(net.CIDRMask(16, 32)).String()
		}
		if ip != nil {
			return ip.Mask(net.CIDRMask(48, 128)).String()
		}
		return s
	}
	return network(a) == network(b)
}

// CleanName returns a name that a device chose, as it is kept and shown.
func CleanName(name, fallback string) string {
	name = strings.TrimSpace(termsafe.Line(name, 40))
	if name == "" {
		return fallback
	}
	return name
}
