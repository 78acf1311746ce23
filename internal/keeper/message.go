package keeper

import "errors"

// Request is the one byte that a peer sends.
type Request byte

// The requests.
const (
	// Serve asks for the folder and the socket, for a daemon. The keeper gives them to one
	// process at a time, which keeps them as long as it keeps its connection.
	Serve Request = 'd'
	// Use asks for the folder, for a process that decides one call.
	Use Request = 'u'
	// Ask asks who serves, without proof.
	Ask Request = 'a'
)

// Status begins a reply.
type Status byte

// The replies.
const (
	Granted  Status = 'g' // descriptors follow: the two folders, and for Serve the socket
	Busy     Status = 'b' // another daemon serves; its process follows
	Free     Status = 'f' // none serves
	Later    Status = 'l' // too many daemons died within a minute
	Refused  Status = 'r' // the peer has no proof
	Overload Status = 'o' // too many connections of this user
	Failed   Status = 'e' // the keeper can't: its log says why
)

// Reply is the keeper's answer: five bytes.
type Reply struct {
	Status Status
	PID    int32 // of the daemon, for Busy
}

const replySize = 5

var errReply = errors.New("the keeper's reply can't be read")

func appendReply(r Reply) []byte {
	return []byte{byte(r.Status), byte(r.PID), byte(r.PID >> 8), byte(r.PID >> 16), byte(r.PID >> 24)}
}

func parseReply(b []byte) (Reply, error) {
	if len(b) != replySize {
		return Reply{}, errReply
	}
	r := Reply{Status(b[0]), int32(b[1]) | int32(b[2])<<8 | int32(b[3])<<16 | int32(b[4])<<24}
	switch r.Status {
	case Granted, Free, Later, Refused, Overload, Failed:
		if r.PID != 0 {
			return Reply{}, errReply
		}
	case Busy:
		if r.PID <= 0 {
			return Reply{}, errReply
		}
	default:
		return Reply{}, errReply
	}
	return r, nil
}

// readRequest reads what a peer sent: exactly one known byte.
func readRequest(b []byte) (Request, bool) {
	if len(b) != 1 {
		return 0, false
	}
	switch r := Request(b[0]); r {
	case Serve, Use, Ask:
		return r, true
	}
	return 0, false
}
