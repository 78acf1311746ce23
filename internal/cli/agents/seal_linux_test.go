package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A record of the installation that nobody sealed, or that something changed, is sealed
// by a person's next command: with the places that are in force, not with what it says.
func TestNextCommandSealsTheInstallation(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("whoever is not root needs a terminal")
	}
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	passwd := filepath.Join(home, "passwd")
	build := exec.Command("go", "build", "-trimpath", "-ldflags",
		"-s -w -X github.com/hookmux/hookmux/internal/platform/paths.passwdFile="+passwd+
			" -X github.com/hookmux/hookmux/internal/platform/paths.runUser="+home+"/none",
		"-o", bin+"/", "github.com/hookmux/hookmux/cmd/hookmux", "github.com/hookmux/hookmux/cmd/hookmux-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(passwd, fmt.Sprintf("me:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), home))
	record := filepath.Join(home, ".local/state/hookmux/installation")
	key := filepath.Join(filepath.Dir(record), "consent.key")
	write(key, strings.Repeat("k", 32))
	shim := filepath.Join(home, ".local/share/hookmux/bin/hookmux-hook")
	write(shim+".x", "")
	if err := os.Symlink(bin+"/hookmux-hook", shim); err != nil {
		t.Fatal(err)
	}
	places := func(runtime string) string {
		return "hookmux installation 1\nhome=" + home + "\nruntime=" + runtime + "\nstate=" + home +
			"/.local/state/hookmux\nconfig=" + home + "/.config/hookmux\ndata=" + home + "/.local/share/hookmux\nhook=" + shim +
			"\nprogram=" + bin + "/hookmux\n"
	}
	own := home + "/.local/state/hookmux/run"
	for name, text := range map[string]string{
		"of an earlier version": places(own) + "end\n", "changed": places("/tmp/evil") + "end\n",
		"with a made-up seal": places("/tmp/evil") + "environ=PATH=/tmp/evil\nseal=" + strings.Repeat("0", 64) + "\nend\n",
	} {
		write(record, text)
		cmd := exec.Command(bin+"/hookmux", "agents")
		cmd.Env = []string{"HOME=" + home, "PATH=/own/bin:/usr/bin:/bin", "SECRET=x"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		sealed, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		for want, there := range map[string]bool{
			"\nruntime=" + own + "\n": true, "\nseal=": true, "PATH=/own/bin:": true, "evil": false, "SECRET": false,
		} {
			if strings.Contains(string(sealed), want) != there {
				t.Errorf("%s: the record is\n%swant %q there: %v", name, sealed, want, there)
			}
		}
		again := exec.Command(bin+"/hookmux", "agents")
		again.Env = []string{"HOME=" + home, "PATH=/tmp/other"}
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if now, _ := os.ReadFile(record); string(now) != string(sealed) {
			t.Errorf("%s: a sealed record was written anew:\n%s", name, now)
		}
	}
}
