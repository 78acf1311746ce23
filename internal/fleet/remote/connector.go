package remote

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// hostsFile is in the state folder, sealed. It holds the keys with which answers are signed.
const hostsFile = "remotes.json"

// maxHosts limits how many hosts there may be: each is an ssh process.
const maxHosts = 64

// host is a machine that you added.
type host struct {
	Name      string    `json:"name"`
	Target    string    `json:"target"`
	Scope     string    `json:"scope"`
	Program   string    `json:"program,omitempty"`
	Installed bool      `json:"installed,omitempty"`
	AuthSock  string    `json:"authSock,omitempty"`
	Key       []byte    `json:"key"` // private, on P-256
	Added     time.Time `json:"added"`
}

// ConnectorOptions configures a connector.
type ConnectorOptions struct {
	services.Deps
	Context context.Context // ends when the daemon does
	Hosts   *fleet.Hosts
}

// Connector keeps a link to every host that you added.
type Connector struct {
	ConnectorOptions
	dial   func(ctx context.Context, h *host) (conn, error)
	copies *copies

	mu       sync.Mutex
	list     []host
	believed bool // the list could be read
	links    map[string]*running
}

// running is a link and how to end it.
type running struct {
	*link
	stop context.CancelFunc
	over chan struct{}
}

// NewConnector reads the list of hosts; Run connects to them.
func NewConnector(o ConnectorOptions) *Connector {
	c := &Connector{ConnectorOptions: o, dial: dialSSH, links: map[string]*running{},
		copies: &copies{deps: o.Deps, over: o.Context}}
	err := sealed.Load(o.Dirs.State, hostsFile, &c.list)
	if c.believed = err == nil; !c.believed {
		o.Problems.Raise("remotes", "the list of hosts isn't believed: "+err.Error(),
			"add them again with `hookmux remote add`")
		c.list = nil
	}
	return c
}

// Run connects to the configured hosts, until ctx ends. Without any it returns immediately.
func (c *Connector) Run(ctx context.Context) {
	c.mu.Lock()
	var names []string
	for _, h := range c.list {
		names = append(names, h.Name)
	}
	if c.believed {
		if err := c.copies.keepOnly(names); err != nil {
			c.Log.Error("copies of the logs of removed hosts aren't deleted", "error", err)
		}
	}
	for _, h := range c.list {
		if err := c.startLocked(h); err != nil {
			c.Problems.Raise("remote:"+h.Name, "the host "+h.Name+" can't be connected: "+err.Error(),
				"remove it with `hookmux remote remove "+h.Name+"` and add it again")
		}
	}
	c.mu.Unlock()
}

// startLocked begins to keep the link to a host.
func (c *Connector) startLocked(h host) error {
	id, err := readIdentity(h.Key)
	if err != nil {
		return err
	}
	l := newLink(h, id, c.dial, c.Deps, c.copies)
	ctx, stop := context.WithCancel(c.Context)
	if err := c.Hosts.Add(ctx, l); err != nil {
		stop()
		return err
	}
	one := &running{link: l, stop: stop, over: make(chan struct{})}
	c.links[h.Name] = one
	c.Background.Go(func() {
		defer close(one.over)
		l.run(ctx)
	})
	return nil
}

// Methods returns what commands ask about hosts.
func (c *Connector) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodRemoteAdd:     {Run: c.addMethod},
		wire.MethodRemoteRemove:  {Run: c.removeMethod},
		wire.MethodRemoteConnect: {Run: c.connectMethod},
	}
}

// addMethod makes a key for a host and begins to connect. Authority asked you for a code before
// this runs. The host lets this machine in once you accepted the key there.
func (c *Connector) addMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RemoteAddParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if err := CheckTarget(p.Target); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	switch {
	case !wire.IsHostName(p.Name):
		return nil, wire.Errorf(wire.CodeParams, "%q can't be the name of a host: use small letters, digits, dots and dashes",
			p.Name)
	case p.Scope != wire.ScopeRead && p.Scope != wire.ScopeAnswer:
		return nil, wire.Errorf(wire.CodeParams, "%q isn't a scope; use %s or %s", p.Scope, wire.ScopeRead, wire.ScopeAnswer)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	private, err := key.Bytes()
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	h := host{Name: p.Name, Target: p.Target, Scope: p.Scope, Program: p.Program, Installed: p.Installed, AuthSock: p.AuthSock,
		Key: private, Added: time.Now().UTC()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.list, func(one host) bool { return one.Name == h.Name }) {
		return nil, wire.Errorf(wire.CodeConflict, "there is a host %s already; remove it first, or choose another name with "+
			"--name", h.Name)
	}
	if len(c.list) >= maxHosts {
		return nil, wire.Errorf(wire.CodeConflict, "there are %d hosts already; `hookmux remote remove` one first", maxHosts)
	}
	if err := c.store(append(slices.Clone(c.list), h)); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the host isn't added, because that couldn't be written down: %v", err)
	}
	if err := c.startLocked(h); err != nil { // a machine of the fleet has the name
		return nil, wire.Errorf(wire.CodeConflict, "%v", errors.Join(err, c.store(c.list[:len(c.list)-1])))
	}
	c.Log.Info("host added", "host", h.Name, "target", h.Target, "scope", h.Scope)
	return wire.RemoteAdded{Name: h.Name, Key: base64.RawURLEncoding.EncodeToString(public)}, nil
}

// store saves a list of hosts, on disk first.
func (c *Connector) store(list []host) error {
	if err := sealed.Store(c.Dirs.State, hostsFile, list); err != nil {
		return err
	}
	c.list = list
	return nil
}

// removeMethod forgets a host. The host is asked to forget this machine, too; whether it
// can be reached or not, this machine's key for it is gone.
func (c *Connector) removeMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RemoteNameParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	c.mu.Lock()
	at := slices.IndexFunc(c.list, func(one host) bool { return one.Name == p.Name })
	if at < 0 {
		c.mu.Unlock()
		return nil, wire.Errorf(wire.CodeGone, "there's no host %q; `hookmux remote list` lists them", p.Name)
	}
	h := c.list[at]
	one := c.links[p.Name]
	delete(c.links, p.Name)
	err := c.store(slices.Delete(slices.Clone(c.list), at, at+1))
	if err != nil {
		c.list = slices.Delete(slices.Clone(c.list), at, at+1)
	}
	c.mu.Unlock()

	out := wire.RemoteRemoved{Name: h.Name, Target: h.Target, Program: h.Program, Installed: h.Installed}
	if one != nil {
		out.Device = one.identity.device
		ctx, cancel := context.WithTimeout(c.Context, 5*time.Second)
		bad := one.leave(ctx)
		cancel()
		if out.Left = bad == nil; bad != nil {
			out.Why = bad.Message
		}
		one.stop()
		<-one.over
	}
	c.Hosts.Remove(h.Name)
	c.mu.Lock()
	if kept := c.copies.forget(h.Name, len(c.list) == 0); kept != nil {
		c.Log.Error("the copy of a host's log isn't deleted", "host", h.Name, "error", kept)
	}
	c.mu.Unlock()
	c.Problems.Clear("remote:" + h.Name)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the host is gone, but may come back when the daemon restarts: %v", err)
	}
	return out, nil
}

// OwnsProcess reports whether a process is the ssh of a link.
func (c *Connector) OwnsProcess(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.links {
		if int(one.process.Load()) == pid {
			return true
		}
	}
	return false
}

// connectMethod tries to reconnect a lost link immediately.
func (c *Connector) connectMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RemoteNameParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	c.mu.Lock()
	one := c.links[p.Name]
	c.mu.Unlock()
	if one == nil {
		return nil, wire.Errorf(wire.CodeGone, "there's no host %q; `hookmux remote list` lists them", p.Name)
	}
	poke(one.retry)
	return map[string]bool{"ok": true}, nil
}
