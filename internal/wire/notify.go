package wire

// Methods about notifications.
const (
	MethodNotifyStatus = "notify.status"
	MethodNotifyTest   = "notify.test"
)

// NotifyInfo describes how you are notified that an agent needs you.
type NotifyInfo struct {
	On       bool            `json:"on"`
	Quiet    bool            `json:"quiet,omitempty"` // nothing is sent at this hour
	Channels []NotifyChannel `json:"channels"`
}

// NotifyChannel is one way of telling.
type NotifyChannel struct {
	Name   string   `json:"name"`
	Kinds  []string `json:"kinds,omitempty"` // what is reported by it
	Told   int      `json:"told,omitempty"`
	Failed int      `json:"failed,omitempty"`
	Error  string   `json:"error,omitempty"`  // why it did not work last
	Absent bool     `json:"absent,omitempty"` // this machine has no such thing
}
