package hubstart

import "testing"

func TestHoldersAreReadFromTheKernelsList(t *testing.T) {
	const list = "1: POSIX  ADVISORY  WRITE 11 00:2f:5 0 EOF\n2: FLOCK  ADVISORY  WRITE 22 00:2f:5 0 EOF\n" +
		"2: -> FLOCK  ADVISORY  WRITE 33 00:2f:6 0 EOF\n3: FLOCK  ADVISORY  READ  44 103:02:7 0 EOF\nrubbish\n\n4: " +
		"FLOCK ADVISORY WRITE 0 00:2f:8 0 EOF\n"
	device := func(major, minor uint64) uint64 { return major<<8 | minor }
	for _, c := range []struct {
		device, inode uint64
		want          int
	}{{device(0, 0x2f), 5, 22}, {device(0, 0x2f), 6, 0}, {device(0x103, 2), 7, 44}, {device(0, 0x2f), 8, 0},
		{device(1, 1), 5, 0}} {
		if got := holderIn(list, c.device, c.inode); got != c.want {
			t.Errorf("device %x, file %d: held by %d, want %d", c.device, c.inode, got, c.want)
		}
	}
}
