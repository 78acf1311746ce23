package keeper

import "testing"

func FuzzReply(f *testing.F) {
	for _, s := range []string{"", "g\x00\x00\x00\x00", "b\x01\x00\x00\x00", "b\x00\x00\x00\x00", "x1234", "g12345"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseReply(b)
		if err != nil {
			return
		}
		if back := string(appendReply(r)); back != string(b) {
			t.Errorf("%q was read as %+v, which is written as %q", b, r, back)
		}
		if (r.Status == Busy) != (r.PID > 0) {
			t.Errorf("%q names process %d", b, r.PID)
		}
	})
}

func TestRequestIsExactlyOneKnownByte(t *testing.T) {
	for b := range 256 {
		r, ok := readRequest([]byte{byte(b)})
		if want := b == 'd' || b == 'u' || b == 'a'; ok != want || ok && byte(r) != byte(b) {
			t.Errorf("byte %d: %v, %v", b, r, ok)
		}
	}
	for _, s := range []string{"", "dd", "d\n"} {
		if _, ok := readRequest([]byte(s)); ok {
			t.Errorf("%q is a request", s)
		}
	}
}
