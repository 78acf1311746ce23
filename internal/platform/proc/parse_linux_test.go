package proc

import (
	"slices"
	"testing"
)

const statTail = " S 100 4242 4242 34817 4300 4194304 101 0 0 0 0 0 0 0 20 0 1 0 79868 3133440 413 " +
	"18446744073709551615\n"

func TestParseStat(t *testing.T) {
	for _, name := range []string{"bash", "tmux: server", "a) S 1 1 1 (b", "", ")", "line\nend"} {
		p, state, err := parseStat([]byte("4242 (" + name + ")" + statTail))
		if err != nil {
			t.Errorf("%q: error %v, want no error", name, err)
			continue
		}
		want := Process{PID: 4242, PPID: 100, PGID: 4242, SID: 4242, Foreground: 4300, Start: 79868, Name: name,
			TTY: "/dev/pts/1"}
		if p != want || state != 'S' {
			t.Errorf("%q: got %+v in state %c", name, p, state)
		}
	}
}

func TestParseStatOutsideTheNamespace(t *testing.T) {
	p, _, err := parseStat([]byte("7 (sh) S 0 0 0 0 -1 4194304 101 0 0 0 0 0 0 0 20 0 1 0 5 3133440 413\n"))
	if err != nil || p.PPID != 0 || p.SID != 0 || p.TTY != "" || p.Foreground != -1 {
		t.Errorf(`got %+v, %v; want no error, p.PPID == 0, p.SID == 0, p.TTY == "" and p.Foreground == -1`, p, err)
	}
}

func TestParseStatRefuses(t *testing.T) {
	for _, line := range []string{"", "1", "1 (a", "1 )a(", "x (a)" + statTail, "1 (a) S 1 2",
		"1 (a) S x 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21"} {
		if p, _, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q gave %+v; want an error", line, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("4242 (bash)" + statTail))
	f.Add([]byte("1 (a) S"))
	f.Fuzz(func(_ *testing.T, line []byte) { _, _, _ = parseStat(line) })
}

func TestParseUID(t *testing.T) {
	uid, effective, err := parseUID([]byte("Name:\tUid:\\n\nState:\tS\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\n"))
	if err != nil || uid != 1000 || effective != 0 {
		t.Errorf("got %d %d %v; want no error, uid == 1000 and effective == 0", uid, effective, err)
	}
	for _, text := range []string{"", "Name:\tx\n", "Name:\tx\nUid:\t\n", "Name:\tx\nUid:\ta\tb\n",
		"Name:\tx\nUid:\t1\tb\n"} {
		if _, _, err := parseUID([]byte(text)); err == nil {
			t.Errorf("%q was accepted; want an error", text)
		}
	}
}

func TestTTYPath(t *testing.T) {
	dev := func(major, minor uint32) uint32 { return minor&0xff | major<<8 | (minor&^0xff)<<12 }
	for dev, want := range map[uint32]string{
		0:           "",
		dev(136, 0): "/dev/pts/0", dev(136, 300): "/dev/pts/300", dev(137, 1): "/dev/pts/257",
		dev(4, 2): "/dev/tty2", dev(4, 64): "/dev/ttyS0", dev(5, 1): "/dev/console",
		dev(4000, 9): "/dev/char/4000:9",
	} {
		if got := ttyPath(dev); got != want {
			t.Errorf("%#x: got %q, want %q", dev, got, want)
		}
	}
}

func TestSplitNUL(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "\x00\x00": nil, "a": {"a"}, "a\x00b\x00": {"a", "b"}, "a\x00\x00b\x00\x00\x00": {"a", "", "b"},
	} {
		if got := splitNUL([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
