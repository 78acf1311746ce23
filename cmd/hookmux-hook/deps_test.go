package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is everything the client may link, the standard library's internal
// packages aside. Each of these was weighed; fmt, net and encoding/json were
// found too heavy for a program that starts at every tool call.
var allowed = []string{
	"bufio", "bytes", "cmp", "context", "encoding/binary", "errors", "hash", "hash/fnv", "io", "io/fs", "iter",
	"math", "math/bits", "math/rand/v2", "os", "os/signal", "path", "path/filepath", "reflect", "runtime", "slices", "strconv", "strings",
	"sync", "sync/atomic", "syscall", "time", "unicode", "unicode/utf16", "unicode/utf8", "unsafe",

	"github.com/hookmux/hookmux/agent/neutral",
	"github.com/hookmux/hookmux/cmd/hookmux-hook",
	"github.com/hookmux/hookmux/internal/platform/jsontext",
	"github.com/hookmux/hookmux/internal/platform/files",
	"github.com/hookmux/hookmux/internal/platform/guardnote",
	"github.com/hookmux/hookmux/internal/platform/daemonstart",
	"github.com/hookmux/hookmux/internal/platform/paths",
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord",
	"github.com/hookmux/hookmux/internal/version",
	"github.com/hookmux/hookmux/internal/wire/frame",
}

func TestDependencies(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-deps", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for dep := range strings.FieldsSeq(string(out)) {
			if !strings.HasPrefix(dep, "internal/") && !slices.Contains(allowed, dep) {
				t.Errorf("%s: the client has come to link %s", system, dep)
			}
		}
	}
}
