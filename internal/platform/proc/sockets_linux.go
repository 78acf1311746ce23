package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// UnixSocket is one socket of this machine, as the kernel numbers them.
type UnixSocket struct {
	Number uint32
	// Peer is the other end, 0 when there is none.
	Peer uint32
	// Path is where it is bound, "" for an unnamed one; an abstract address
	// begins with "@".
	Path      string
	Listening bool
	// UID is the user who made it.
	UID int
}

// What the kernel's socket only log calls things (linux/unix_diag.h).
const (
	sockDiagByFamily = 20
	diagShowName     = 1
	diagShowPeer     = 4
	diagShowUID      = 0x40
	diagUID          = 7
	diagName         = 0
	diagPeer         = 2
	diagRequestSize  = 24
	diagMessageSize  = 16
	stateListening   = 10
)

// maxSockets limits how many sockets are listed.
const maxSockets = 65536

// UnixSockets lists all Unix sockets of this network namespace.
func UnixSockets() ([]UnixSocket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // only asked
	limit := unix.NsecToTimeval(int64(2 * time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	request := make([]byte, unix.SizeofNlMsghdr+diagRequestSize)
	binary.NativeEndian.PutUint32(request[0:], uint32(len(request)))
	binary.NativeEndian.PutUint16(request[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := request[unix.SizeofNlMsghdr:]
	body[0] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(body[4:], ^uint32(0)) // every state
	binary.NativeEndian.PutUint32(body[12:], diagShowName|diagShowPeer|diagShowUID)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("list sockets: %w", err)
	}
	var list []UnixSocket
	buf := make([]byte, 64<<10)
	for len(list) < maxSockets {
		n, err := ignoringEINTR(func() (int, error) { n, _, err := unix.Recvfrom(fd, buf, 0); return n, err })
		if err != nil {
			return nil, fmt.Errorf("list sockets: %w", err)
		}
		more, done, err := parseSockets(buf[:n])
		if err != nil {
			return nil, fmt.Errorf("list sockets: %w", err)
		}
		list = append(list, more...)
		if done {
			break
		}
	}
	return list, nil
}

// parseSockets reads one answer of the socket only log.
func parseSockets(b []byte) (list []UnixSocket, done bool, err error) {
	for len(b) >= unix.SizeofNlMsghdr {
		size := int(binary.NativeEndian.Uint32(b))
		kind := binary.NativeEndian.Uint16(b[4:])
		if size < unix.SizeofNlMsghdr || size > len(b) {
			return list, false, errMalformed
		}
		switch kind {
		case unix.NLMSG_DONE:
			return list, true, nil
		case unix.NLMSG_ERROR:
			return list, false, errors.New("the kernel does not tell")
		case sockDiagByFamily:
			if s, ok := parseSocket(b[unix.SizeofNlMsghdr:size]); ok {
				list = append(list, s)
			}
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return list, false, nil
}

func parseSocket(b []byte) (UnixSocket, bool) {
	if len(b) < diagMessageSize {
		return UnixSocket{}, false
	}
	s := UnixSocket{Number: binary.NativeEndian.Uint32(b[4:]), Listening: b[2] == stateListening, UID: -1}
	b = b[diagMessageSize:]
	for len(b) >= 4 {
		size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if size < 4 || size > len(b) {
			break
		}
		value := b[4:size]
		switch {
		case kind == diagPeer && len(value) >= 4:
			s.Peer = binary.NativeEndian.Uint32(value)
		case kind == diagUID && len(value) >= 4:
			s.UID = int(binary.NativeEndian.Uint32(value))
		case kind == diagName && len(value) > 0:
			if value[0] == 0 {
				s.Path = "@" + unix.ByteSliceToString(value[1:])
			} else {
				s.Path = unix.ByteSliceToString(value)
			}
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return s, true
}
