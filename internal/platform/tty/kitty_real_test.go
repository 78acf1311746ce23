package tty

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// A real kitty on an X server without a screen: its windows are gone to, and only where
// the agent really is.
func TestRealKitty(t *testing.T) {
	if os.Getenv("HOOKMUX_VERIFY") == "" {
		t.Skip("a real kitty is for `make verify`")
	}
	for _, program := range []string{"kitty", "Xvfb"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("a real kitty is left out: there is no %s here", program)
		}
	}
	folder, err := os.MkdirTemp("", "kit") // short enough for a socket
	if err != nil {
		t.Fatalf("no folder for kitty: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "LIBGL_ALWAYS_SOFTWARE=1", "LC_ALL=C.UTF-8"}
	start := func(program string, args ...string) *bufio.Reader {
		cmd := exec.Command(program, args...)
		cmd.Env = environ
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatalf("%s has no output: %v", program, err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatalf("%s does not start: %v", program, err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return bufio.NewReader(out)
	}
	display, err := start("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp").ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb said nothing: %v", err)
	}
	environ = append(environ, "DISPLAY=:"+strings.TrimSpace(display))
	address := "unix:" + filepath.Join(folder, "socket")
	// The shell below kitty is what an agent would be; it notes who it is.
	agent := func(name string) string {
		return "echo $$ >" + name + ".new; mv " + name + ".new " + name + "; sleep 600; true"
	}
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	start("kitty", "-o", "allow_remote_control=socket-only", "--config", "NONE", "--listen-on", address, "sh", "-c",
		agent(first))
	pidIn := func(file string) (pid int) {
		await.Until(t, "the shell in kitty runs", func() bool {
			b, _ := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return pid > 0
		})
		return pid
	}
	kitty := func(args ...string) (string, error) {
		cmd := exec.Command("kitty", append([]string{"@", "--to", address}, args...)...)
		cmd.Env = environ
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	pid := pidIn(first)
	var other string
	await.Until(t, "kitty takes commands", func() bool {
		other, err = kitty("launch", "--type=tab", "sh", "-c", agent(second))
		return err == nil
	})
	pidIn(second)
	active := func() string {
		out, _ := kitty("ls")
		var list []struct {
			Tabs []struct {
				Active  bool `json:"is_active_tab"`
				Windows []struct {
					ID int `json:"id"`
				} `json:"windows"`
			} `json:"tabs"`
		}
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatalf("kitty lists %q: %v", out, err)
		}
		for _, tab := range list[0].Tabs {
			if tab.Active {
				return strconv.Itoa(tab.Windows[0].ID)
			}
		}
		return ""
	}
	await.Until(t, "the second tab is in front", func() bool { return active() == other })
	d := &Terminals{Processes: proc.System()}
	if err := d.Focus(context.Background(), Window{Kind: "kitty", ID: other, Server: address, PID: pid}); err == nil {
		t.Error("a window was gone to in which the agent is not")
	}
	if err := d.Focus(context.Background(), Window{Kind: "kitty", ID: "1", Server: address, PID: pid}); err != nil {
		t.Fatalf("kitty was not gone to: %v", err)
	}
	await.Until(t, "the agent's window is in front", func() bool { return active() == "1" })
}
