package wire

// Methods about being told.
const (
	MethodNotifyStatus = "notify.status"
	MethodNotifyTest   = "notify.test"
)

// NotifyInfo is how a person is told that an agent needs them.
type NotifyInfo struct {
	On       bool            `json:"on"`
	Quiet    bool            `json:"quiet,omitempty"` // nothing is told at this hour
	Channels []NotifyChannel `json:"channels"`
}

// NotifyChannel is one way of telling.
type NotifyChannel struct {
	Name   string   `json:"name"`
	Kinds  []string `json:"kinds,omitempty"` // what is told by it
	Told   int      `json:"told,omitempty"`
	Failed int      `json:"failed,omitempty"`
	Error  string   `json:"error,omitempty"`  // why it did not work last
	Absent bool     `json:"absent,omitempty"` // this machine has no such thing
}
