package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxDevices bounds how many may be paired.
const maxDevices = 64

// device is a browser that you paired.
type device struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Scope   string        `json:"scope"`
	Key     []byte        `json:"key"` // 0x04, X and Y of a point on P-256
	Paired  time.Time     `json:"paired"`
	Used    time.Time     `json:"used,omitzero"`
	Address string        `json:"address,omitempty"`
	Browser string        `json:"browser,omitempty"`
	Push    *subscription `json:"push,omitempty"`
}

func (d *device) publicKey() (*ecdsa.PublicKey, error) {
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), d.Key)
}

func (d *device) info(pages int) wire.WebDevice {
	sum := sha256.Sum256(d.Key)
	return wire.WebDevice{ID: d.ID, Name: d.Name, Scope: d.Scope, Paired: d.Paired, Used: d.Used, Address: d.Address,
		Browser: d.Browser, Pages: pages, Push: d.Push != nil, Key: hex.EncodeToString(sum[:])}
}

// by is how decisions name the device.
func (d *device) by() string { return fmt.Sprintf("%s (device %s)", d.Name, d.ID) }

// devices are those that are paired, also on disk.
type devices struct {
	deps services.Deps

	mu      sync.Mutex
	paired  []device
	written map[string]time.Time // when the last use of each was written down
}

func openDevices(deps services.Deps) *devices {
	d := &devices{deps: deps, written: map[string]time.Time{}}
	if err := sealed.Load(deps.Dirs.State, devicesFile, &d.paired); err != nil {
		deps.Problems.Raise("web.devices", "paired devices aren't believed: "+err.Error(),
			"pair them again with `hookmux web pair`")
		d.paired = nil
	}
	return d
}

func (d *devices) list() []device {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.paired)
}

func (d *devices) get(id string) (device, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.paired, func(one device) bool { return one.ID == id })
	if i < 0 {
		return device{}, false
	}
	return d.paired[i], true
}

// find finds a device by what you call it.
func (d *devices) find(name string) (device, *wire.Error) {
	var found []device
	for _, one := range d.list() {
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
		return device{}, wire.Errorf(wire.CodeGone, "there's no device %q; `hookmux web devices` lists them", name)
	}
	return device{}, wire.Errorf(wire.CodeParams, "several devices begin with %q; `hookmux web devices` lists them", name)
}

// change changes the list, on disk first where that is what counts.
func (d *devices) change(edit func(list []device) []device) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := edit(slices.Clone(d.paired))
	if err := sealed.Store(d.deps.Dirs.State, devicesFile, fresh); err != nil {
		return err
	}
	d.paired = fresh
	return nil
}

// update changes one device.
func (d *devices) update(id string, edit func(*device)) error {
	return d.change(func(list []device) []device {
		for i := range list {
			if list[i].ID == id {
				edit(&list[i])
			}
		}
		return list
	})
}

// drop removes a device from memory whatever the disk says: it no longer counts.
func (d *devices) drop(id string) error {
	without := func(list []device) []device {
		return slices.DeleteFunc(list, func(one device) bool { return one.ID == id })
	}
	err := d.change(without)
	if err != nil {
		d.mu.Lock()
		d.paired = without(d.paired)
		d.mu.Unlock()
	}
	return err
}

// noteUse notes that a device was used, and reports whether that was from another
// network or with another browser than before.
func (d *devices) noteUse(id, address, browser string, now time.Time) (before device, elsewhere bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.paired, func(one device) bool { return one.ID == id })
	if i < 0 {
		return device{}, false
	}
	one := &d.paired[i]
	before = *one
	elsewhere = one.Browser != "" && one.Browser != browser || one.Address != "" && !sameNetwork(one.Address, address)
	one.Used, one.Address, one.Browser = now, address, browser
	if elsewhere || now.Sub(d.written[id]) > useWritten {
		d.written[id] = now
		if err := sealed.Store(d.deps.Dirs.State, devicesFile, d.paired); err != nil {
			d.deps.Log.Warn("the last use of a device isn't written down", "error", err)
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

// cleanName is a name that a browser chose, as it is kept and shown.
func cleanName(name string) string {
	name = strings.TrimSpace(termsafe.Line(name, 40))
	if name == "" {
		return "browser"
	}
	return name
}

func (s *Service) devicesMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	return s.deviceInfos(), nil
}

func (s *Service) deviceInfos() []wire.WebDevice {
	list := []wire.WebDevice{}
	for _, one := range s.devices.list() {
		list = append(list, one.info(s.hub.count(one.ID)))
	}
	return list
}

// readDevice reads parameters that name a device.
func (s *Service) readDevice(params json.RawMessage) (wire.WebDeviceParams, device, *wire.Error) {
	var p wire.WebDeviceParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return p, device{}, bad
	}
	one, bad := s.devices.find(p.Device)
	return p, one, bad
}

func (s *Service) renameMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	p, one, bad := s.readDevice(params)
	if bad != nil {
		return nil, bad
	}
	if strings.TrimSpace(p.Name) == "" {
		return nil, wire.Errorf(wire.CodeParams, "a device needs a name")
	}
	if err := s.devices.update(one.ID, func(d *device) { d.Name = cleanName(p.Name) }); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	one, _ = s.devices.get(one.ID)
	return one.info(s.hub.count(one.ID)), nil
}

func (s *Service) removeMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	_, one, bad := s.readDevice(params)
	if bad != nil {
		return nil, bad
	}
	if err := s.removeDevice(one); err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the device no longer counts, but may come back when the daemon restarts: %v", err)
	}
	return one.info(0), nil
}

// removeDevice ends what a device does, at once.
func (s *Service) removeDevice(one device) error {
	err := s.devices.drop(one.ID)
	s.hub.endPages(func(p *page) bool { return p.device == one.ID })
	s.record("removed", one)
	return err
}

func (s *Service) scopeMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	p, one, bad := s.readDevice(params)
	if bad != nil {
		return nil, bad
	}
	if p.Scope != wire.ScopeRead && p.Scope != wire.ScopeAnswer {
		return nil, wire.Errorf(wire.CodeParams, "%q isn't a scope; use %s or %s", p.Scope, wire.ScopeRead, wire.ScopeAnswer)
	}
	if err := s.devices.update(one.ID, func(d *device) { d.Scope = p.Scope }); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	// Pages come back at once, with what they may do now.
	s.hub.endPages(func(page *page) bool { return page.device == one.ID })
	one, _ = s.devices.get(one.ID)
	s.record("scope "+p.Scope, one)
	return one.info(0), nil
}
