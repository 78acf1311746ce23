package remote_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
)

// A fleet begins with one code that you type, and not at all if you don't.
func TestRealFleetInit(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	b := &bed{t: t, bin: terminaltest.Base() + "/bin"}
	b.folder(b.bin, 0)
	if err := programs.Build(b.bin, programs.Options{Names: []string{"hookmux", "hookmux-hook", "hookmux-fleet"}}); err != nil {
		t.Fatal(err)
	}
	terminaltest.StartSSH(t)
	person := terminaltest.Login(t)
	person.Run("export PATH=" + b.bin + ":$PATH")
	if out := person.Run("hookmux daemon start"); !strings.Contains(out, "running") {
		t.Fatalf("the daemon doesn't start: %q", out)
	}
	begin, end := person.Start("hookmux fleet init --listen 127.0.0.1:0 --name desk")
	person.Await(begin, "Type ")
	person.Type("\x1b") // Escape
	person.Await(begin, end)
	if out := person.Run("hookmux fleet"); !strings.Contains(out, "in no fleet") {
		t.Errorf("after a refusal, hookmux fleet says %q", out)
	}
	if _, err := os.Stat(terminaltest.Home() + "/.local/state/hookmux/fleet-server"); err == nil {
		t.Error("a refused fleet leaves a folder")
	}
	said := b.confirm(person, "hookmux fleet init --listen 127.0.0.1:0 --name desk")
	if codes := shownCode.FindAllString(said, -1); len(codes) != 1 || !strings.Contains(said, "hookmux fleet join hmf1-") ||
		strings.Contains(said, "no one typed") {
		t.Errorf("fleet init asks for %d codes and says %q, want one code and how others join", len(codes), said)
	}
	if said := b.confirm(person, "hookmux fleet leave --delete-fleet --yes"); !strings.Contains(said, "the fleet is gone") ||
		!strings.Contains(said, "hookmux: end the fleet for every machine") {
		t.Errorf("fleet leave says %q", said)
	}
}
