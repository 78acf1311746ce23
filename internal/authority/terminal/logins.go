package terminal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/authority"
)

// Where logins are written down.
var (
	utmpFiles       = []string{"/run/utmp", "/var/run/utmp"}
	sessionsOfLogin = "/run/systemd/sessions"
)

// maxLogins bounds what is read of them.
const maxLogins = 1 << 20

// Logins reads utmp and what logind keeps.
func (s *Source) Logins() ([]authority.Login, error) {
	own := ownAddresses()
	var logins []authority.Login
	for _, file := range utmpFiles {
		b, err := readBounded(file)
		if err == nil {
			logins = append(logins, parseUtmp(b, own, runtime.GOARCH)...)
			break
		}
	}
	for _, session := range loginSessions() {
		pid, err := strconv.Atoi(session["LEADER"])
		if err != nil {
			continue
		}
		login := authority.Login{PID: pid, Remote: session["REMOTE_HOST"]}
		if session["TTY"] != "" {
			login.TTY = "/dev/" + session["TTY"]
		}
		login.Local = isOwn(login.Remote, own)
		logins = append(logins, login)
	}
	return logins, nil
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(io.LimitReader(f, maxLogins))
}

// parseUtmp reads glibc's records. Their size depends on the architecture: some
// kept 32 bits for times.
func parseUtmp(b []byte, own map[netip.Addr]bool, arch string) []authority.Login {
	size, address := 384, 348
	if arch == "arm64" || arch == "riscv64" || arch == "loong64" {
		size, address = 400, 360
	}
	const userProcess = 7
	var logins []authority.Login
	for ; len(b) >= size; b = b[size:] {
		if binary.NativeEndian.Uint16(b) != userProcess {
			continue
		}
		login := authority.Login{PID: int(int32(binary.NativeEndian.Uint32(b[4:]))),
			TTY: "/dev/" + cString(b[8:40]), Remote: cString(b[76:332])}
		if remote, ok := utmpAddress(b[address : address+16]); ok {
			login.Remote, login.Local = remote.String(), own[remote] || remote.IsLoopback()
		} else {
			login.Local = isOwn(login.Remote, own)
		}
		logins = append(logins, login)
	}
	return logins
}

// utmpAddress reads four bytes, or sixteen for the newer protocol.
func utmpAddress(b []byte) (netip.Addr, bool) {
	if bytes.Equal(b, make([]byte, 16)) {
		return netip.Addr{}, false
	}
	if bytes.Equal(b[4:], make([]byte, 12)) {
		b = b[:4]
	}
	a, ok := netip.AddrFromSlice(b)
	return a.Unmap(), ok
}

func cString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

// isOwn takes what is no address for this machine's own: a name proves nothing.
func isOwn(remote string, own map[netip.Addr]bool) bool {
	address, err := netip.ParseAddr(remote)
	address = address.Unmap().WithZone("") // an address of this machine is its own on every interface
	return err != nil || address.IsLoopback() || own[address]
}

func ownAddresses() map[netip.Addr]bool {
	own := map[netip.Addr]bool{}
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own[prefix.Addr().Unmap()] = true
		}
	}
	return own
}

// loginSessions reads logind's files, which are root's.
func loginSessions() []map[string]string {
	names, _ := filepath.Glob(sessionsOfLogin + "/*")
	var sessions []map[string]string
	for _, name := range names[:min(len(names), 1000)] {
		if strings.HasSuffix(name, ".ref") {
			continue
		}
		b, err := readBounded(name)
		if err != nil {
			continue
		}
		session := map[string]string{}
		lines := bufio.NewScanner(bytes.NewReader(b))
		for lines.Scan() {
			if key, value, ok := strings.Cut(lines.Text(), "="); ok {
				session[key] = value
			}
		}
		sessions = append(sessions, session)
	}
	return sessions
}
