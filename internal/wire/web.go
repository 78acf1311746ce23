package wire

import "time"

// Methods about the page in the browser and the devices that may use it.
const (
	MethodWebStart        = "web.start"
	MethodWebStop         = "web.stop"
	MethodWebStatus       = "web.status"
	MethodWebPair         = "web.pair"         // begins to pair a device
	MethodWebPairWait     = "web.pair.wait"    // waits until a device used the code
	MethodWebPairConfirm  = "web.pair.confirm" // lets it in
	MethodWebDevices      = "web.devices"
	MethodWebDeviceRename = "web.devices.rename"
	MethodWebDeviceRemove = "web.devices.remove"
	MethodWebDeviceScope  = "web.devices.scope"
)

// What a paired device may do.
const (
	ScopeRead   = "read"   // see sessions and requests
	ScopeAnswer = "answer" // answer requests and send texts, too
)

// WebStartParams is where the page is served.
type WebStartParams struct {
	Listen    string `json:"listen,omitempty"`    // host:port; "" is the one before, or the default
	PublicURL string `json:"publicUrl,omitempty"` // how browsers reach it through a proxy
	Cert      string `json:"cert,omitempty"`      // file of the TLS certificate
	Key       string `json:"key,omitempty"`       // file of its key
	Insecure  bool   `json:"insecure,omitempty"`  // plain HTTP beyond loopback
}

// WebStatus says whether and where the page is served.
type WebStatus struct {
	On        bool   `json:"on"`
	URL       string `json:"url,omitempty"`
	Listen    string `json:"listen,omitempty"`
	PublicURL string `json:"publicUrl,omitempty"`
	TLS       bool   `json:"tls,omitempty"`
	Devices   int    `json:"devices"`
	Pages     int    `json:"pages"` // connected now
	Error     string `json:"error,omitempty"`
}

// WebPairParams begins to pair a device.
type WebPairParams struct {
	Scope string `json:"scope,omitempty"`
	Name  string `json:"name,omitempty"`
}

// WebPairing is a code for one device.
type WebPairing struct {
	Pairing string    `json:"pairing"` // names it in the other methods
	URL     string    `json:"url"`     // with the code in its fragment
	Until   time.Time `json:"until"`
}

// WebPairingParams names a pairing.
type WebPairingParams struct {
	Pairing string `json:"pairing"`
}

// WebClaim is a device that used the code and waits to be let in.
type WebClaim struct {
	Digits  string `json:"digits"` // that the device shows, too
	Name    string `json:"name"`
	Browser string `json:"browser"`
	Address string `json:"address"`
	Scope   string `json:"scope"`
}

// WebConfirmParams lets the device in that shows these digits.
type WebConfirmParams struct {
	Pairing string `json:"pairing"`
	Digits  string `json:"digits"`
	Name    string `json:"name"`  // as the claim has it: what you confirm is what's shown
	Scope   string `json:"scope"` // the same
}

// WebDevice is a paired device.
type WebDevice struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind,omitempty"` // host: hookmux on another machine
	Name    string    `json:"name"`
	Scope   string    `json:"scope"`
	Paired  time.Time `json:"paired"`
	Used    time.Time `json:"used,omitzero"`
	Address string    `json:"address,omitempty"` // of its last use
	Browser string    `json:"browser,omitempty"`
	Pages   int       `json:"pages"` // connected now
	Push    bool      `json:"push,omitempty"`
	Key     string    `json:"key"` // SHA-256 of its public key
}

// WebDeviceParams changes a device; it's named by its id, the beginning of it, or its name.
type WebDeviceParams struct {
	Device string `json:"device"`
	Name   string `json:"name,omitempty"`
	Scope  string `json:"scope,omitempty"`
}
