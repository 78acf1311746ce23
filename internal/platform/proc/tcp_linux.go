package proc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// TCPEnd is one end of an established connection over TCP.
type TCPEnd struct {
	Local, Remote netip.AddrPort
	UID           int
	Number        uint32
}

// maxTCP limits how much of the kernel's list of connections is read.
const maxTCP = 8 << 20

// TCPEnds lists the established connections of this network namespace.
func TCPEnds() ([]TCPEnd, error) {
	var ends []TCPEnd
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // a kernel without it
		}
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(io.LimitReader(f, maxTCP))
		_ = f.Close() // only read
		if err != nil {
			return nil, err
		}
		ends = append(ends, parseTCP(b)...)
	}
	return ends, nil
}

// The states of a socket in the kernel's list.
const (
	tcpEstablished = "01"
	tcpListening   = "0A"
)

// ListenerNumber returns the number of the socket that listens on a port of this machine's
// own address; false if there is none.
func ListenerNumber(port int) (uint32, bool) {
	b, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, false
	}
	for _, end := range parseTCPIn(b, tcpListening) {
		if int(end.Local.Port()) == port && end.Local.Addr().IsLoopback() {
			return end.Number, true
		}
	}
	return 0, false
}

// ListenerOwner returns which of some processes listens on a port of this machine's
// own address.
func ListenerOwner(port int, among []int) (pid int, ok bool) {
	number, ok := ListenerNumber(port)
	if !ok {
		return 0, false
	}
	for _, pid := range among {
		if numbers, err := SocketNumbers(pid); err == nil && numbers[number] {
			return pid, true
		}
	}
	return 0, false
}

func parseTCP(b []byte) []TCPEnd { return parseTCPIn(b, tcpEstablished) }

func parseTCPIn(b []byte, state string) []TCPEnd {
	var ends []TCPEnd
	for line := range bytes.Lines(b) {
		words := bytes.Fields(line)
		if len(words) < 10 || string(words[3]) != state {
			continue
		}
		local, ok := parseAddress(string(words[1]))
		remote, ok2 := parseAddress(string(words[2]))
		uid, err := strconv.Atoi(string(words[7]))
		number, err2 := strconv.ParseUint(string(words[9]), 10, 32)
		if ok && ok2 && err == nil && err2 == nil {
			ends = append(ends, TCPEnd{local, remote, uid, uint32(number)})
		}
	}
	return ends
}

// parseAddress reads "0100007F:0016": words of four bytes in the machine's own
// order, here little-endian as on every system Linux agents run on.
func parseAddress(text string) (netip.AddrPort, bool) {
	host, port, ok := bytes.Cut([]byte(text), []byte(":"))
	if !ok {
		return netip.AddrPort{}, false
	}
	raw, err := hex.DecodeString(string(host))
	if err != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	number, err := strconv.ParseUint(string(port), 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	address, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(address.Unmap(), uint16(number)), true
}
