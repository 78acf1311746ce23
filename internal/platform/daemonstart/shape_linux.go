package daemonstart

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// shape is the public view of a process, also of one that hides
// its program. Sizes are in KiB.
type shape struct {
	code   int // of the program itself
	shared int // of libraries
	tracer int // the process that debugs it; 0 for none
}

// mostShared is how much code a program without libraries has in addition to its own: what
// the kernel maps into every process.
const mostShared = 512

var errOtherShape = errors.New(
	"the process on the daemon's socket hides its program, and is not like the installed hookmux")

// checkShape rejects a process whose program can't be read and that isn't like the installed
// one: it is being debugged, has libraries although hookmux has none, or has less than half
// or more than twice the code. Another version may differ by that much. What can't be found
// out is no reason to reject.
func checkShape(process, program string) error {
	text, err := files.Read(process+"/status", 16<<10)
	if err != nil {
		return nil
	}
	running, known := readShape(string(text))
	code, libraries, readable := programCode(program)
	if !readable {
		if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
			return errNoProgram
		}
	}
	switch {
	case !known || !readable:
		return nil
	case running.tracer != 0, !libraries && running.shared > mostShared,
		running.code < code/2, running.code > 2*code:
		return errOtherShape
	}
	return nil
}

// readShape reads /proc/PID/status. It is false if that doesn't say enough.
func readShape(status string) (s shape, known bool) {
	fields := map[string]*int{"VmExe": &s.code, "VmLib": &s.shared, "TracerPid": &s.tracer}
	found := 0
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		field := fields[name]
		if field == nil {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if err != nil {
			return s, false
		}
		*field = n
		found++
	}
	return s, found == len(fields)
}

// The parts of a 64-bit ELF file that show how much code a program has.
const (
	elfHeader    = 64
	segmentSize  = 56
	mostSegments = 32
	loadSegment  = 1
	interpreter  = 3 // names the program that loads libraries
	executable   = 1 // flag
)

// programCode returns how much code a program file has, in KiB, and whether it needs
// libraries.
func programCode(file string) (code int, libraries, readable bool) {
	f, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, false, false
	}
	defer func() { _ = syscall.Close(f) }() // only read from
	var head [elfHeader + mostSegments*segmentSize]byte
	n, err := syscall.Pread(f, head[:], 0)
	if err != nil {
		return 0, false, false
	}
	return elfCode(head[:n])
}

// elfCode reads the beginning of an ELF file.
func elfCode(head []byte) (code int, libraries, readable bool) {
	const is64, littleEndian = 2, 1
	if len(head) < elfHeader || string(head[:4]) != "\x7fELF" || head[4] != is64 || head[5] != littleEndian {
		return 0, false, false
	}
	order := binary.LittleEndian
	at := order.Uint64(head[32:])
	count := int(order.Uint16(head[56:]))
	if at != elfHeader || order.Uint16(head[54:]) != segmentSize || len(head) < elfHeader+count*segmentSize {
		return 0, false, false
	}
	first, last := ^uint64(0), uint64(0)
	for i := range count {
		segment := head[elfHeader+i*segmentSize:]
		switch order.Uint32(segment) {
		case interpreter:
			libraries = true
		case loadSegment:
			if order.Uint32(segment[4:])&executable != 0 {
				start, size := order.Uint64(segment[16:]), order.Uint64(segment[32:])
				first, last = min(first, start), max(last, start+size)
			}
		}
	}
	if last <= first {
		return 0, false, false
	}
	const page = 4 << 10
	return int((last+page-1)&^(page-1)-first&^(page-1)) >> 10, libraries, true
}
