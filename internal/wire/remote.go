package wire

import "encoding/json"

// Methods about hosts over ssh, on the machine that shows them.
const (
	MethodRemoteAdd     = "remote.add"
	MethodRemoteRemove  = "remote.remove"
	MethodRemoteConnect = "remote.connect" // tries a lost link now
)

// Methods by which another machine that was paired sees this one's sessions and requests
// and answers them. They come through `hookmux remote-serve`, which anybody of this user
// can run: each is checked by the other machine's signature.
const (
	MethodRemoteAccept = "remote.accept" // pairs it
	MethodRemoteHello  = "remote.hello"
	MethodRemoteFollow = "remote.follow" // a stream
	MethodRemoteCall   = "remote.call"
	MethodRemoteAnswer = "remote.answer"
)

// Notifications of remote.follow. What is no more is named by its id.
const (
	NoteRemoteSession     = "remote.session"
	NoteRemoteSessionGone = "remote.sessionGone"
	NoteRemoteRequest     = "remote.request"
	NoteRemoteRequestGone = "remote.requestGone"
	NoteRemoteReady       = "remote.ready"  // everything there is has been sent
	NoteRemoteStored      = "remote.stored" // the journal has something new
	NoteRemoteBeat        = "remote.beat"
)

// RemoteProtocol is the version of these methods, RemoteOldest the oldest that is spoken.
const (
	RemoteProtocol = 1
	RemoteOldest   = 1
)

// RemoteAddParams adds a host. The answer adds a host. The answer is for that machine to accept.
type RemoteAddParams struct {
	Name    string `json:"name"`
	Target  string `json:"target"` // as ssh takes it
	Scope   string `json:"scope"`
	Program string `json:"program,omitempty"` // hookmux there
	// Installed says that `hookmux remote add` put hookmux there, so that removing takes it
	// away.
	Installed bool `json:"installed,omitempty"`
	// AuthSock is the socket of your ssh agent, for a daemon that has none.
	AuthSock string `json:"authSock,omitempty"`
}

// RemoteAdded is a host that was added.
type RemoteAdded struct {
	Name string `json:"name"`
	Key  string `json:"key"` // public, base64 without padding
}

// RemoteNameParams names a host.
type RemoteNameParams struct {
	Name string `json:"name"`
}

// RemoteRemoved describes what remains to be done about a host that was removed.
type RemoteRemoved struct {
	Name      string `json:"name"`
	Target    string `json:"target"`
	Program   string `json:"program,omitempty"`
	Installed bool   `json:"installed,omitempty"`
	// Left says that the machine dropped this one's key; otherwise Why says why not, and Device is its
	// name there.
	Left   bool   `json:"left"`
	Why    string `json:"why,omitempty"`
	Device string `json:"device"`
}

// RemoteAcceptParams lets another machine see this one, and answer with scope answer.
type RemoteAcceptParams struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Scope string `json:"scope"`
}

// RemoteHello is a machine's introduction before anything is signed.
type RemoteHello struct {
	Protocol int    `json:"protocol"`
	Oldest   int    `json:"oldest"`
	Version  string `json:"version"`
	Instance string `json:"instance"` // random for each run; part of all that is signed
	Clock    int64  `json:"clock"`    // in milliseconds
}

// RemoteSigned names the sender of something, and proves it.
type RemoteSigned struct {
	Device    string `json:"device"`
	Protocol  int    `json:"protocol"`
	Time      int64  `json:"time"` // in milliseconds
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
}

// RemoteCallParams is a call of a method. Call is the exact text that was signed: a
// [RemoteRequest].
type RemoteCallParams struct {
	RemoteSigned
	Call string `json:"call"`
}

// RemoteRequest is a call: a method of sessions or the inbox, or one of those below.
type RemoteRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// What else can be called by remote.call.
const (
	RemoteAttend = "attend" // someone is watching, or no longer is; renewed while they do
	RemoteLeave  = "leave"  // forget this key
	RemoteLog    = "log"    // what the journal has after a place in it
)

// RemoteAttendParams says whether someone who may answer is watching.
type RemoteAttendParams struct {
	Link string `json:"link"` // the nonce of remote.follow
	On   bool   `json:"on"`
}

// RemoteAnswerParams is a signed answer.
type RemoteAnswerParams struct {
	Device string          `json:"device"`
	Answer json.RawMessage `json:"answer"` // devices.SignedAnswer
}

// RemoteGone names what is no more.
type RemoteGone struct {
	ID string `json:"id"`
}
