package webcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What `hookmux web on --tailscale` asks of tailscale, and what it says without it.
func TestTailscale(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := tailscaleName(t.Context()); err == nil || !strings.Contains(err.Error(), "Tailscale isn't installed") {
		t.Errorf("without it: %v", err)
	}
	program := func(says string) {
		script := "#!/bin/sh\necho \"$@\" >>'" + dir + "/calls'\n" + says + "\n"
		if err := os.WriteFile(filepath.Join(dir, "tailscale"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(`echo '{"Self":{}}'`)
	if name, err := tailscaleName(t.Context()); err == nil || !strings.Contains(err.Error(), "MagicDNS") {
		t.Errorf("without a name: %q, %v", name, err)
	}
	program(`echo '{"Self":{"DNSName":"mac.example.ts.net."}}'`)
	if name, err := tailscaleName(t.Context()); err != nil || name != "mac.example.ts.net" {
		t.Errorf("its name is %q, %v", name, err)
	}
	if err := tailscaleServe(t.Context(), "127.0.0.1:4665"); err != nil {
		t.Error(err)
	}
	calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
	if want := "status --json\nstatus --json\nserve --bg --https=443 http://127.0.0.1:4665\n"; string(calls) != want {
		t.Errorf("tailscale is asked\n%swant\n%s", calls, want)
	}
	program("echo 'Serve is not enabled on your tailnet.'; exit 1")
	if err := tailscaleServe(t.Context(), "127.0.0.1:4665"); err == nil || !strings.Contains(err.Error(), "Serve is not enabled") {
		t.Errorf("where it may not serve: %v", err)
	}
}
