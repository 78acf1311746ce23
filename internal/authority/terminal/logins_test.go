package terminal

import (
	"net/netip"
	"testing"
)

// An address of this machine is its own, however it is written.
func TestOwnAddresses(t *testing.T) {
	own := map[netip.Addr]bool{netip.MustParseAddr("192.0.2.7"): true, netip.MustParseAddr("fe80::5"): true}
	for remote, want := range map[string]bool{
		"192.0.2.7": true, "::ffff:192.0.2.7": true, "127.0.0.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"fe80::5": true, "fe80::5%eth0": true, "::1%lo": true, "localhost": true, "": true,
		"192.0.2.8": false, "fe80::6": false, "fe80::6%eth0": false,
	} {
		if got := isOwn(remote, own); got != want {
			t.Errorf("isOwn(%q) = %v, want %v", remote, got, want)
		}
	}
}
