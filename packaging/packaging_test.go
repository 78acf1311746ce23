// Package packaging holds the files that run the daemon as a service. This test
// keeps them readable for those who run it.
package packaging

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/approvals/polkit"
)

const (
	unit   = "systemd/hookmux.service"
	plist  = "launchd/io.github.hookmux.daemon.plist"
	action = "polkit/" + polkit.Action + ".policy"
)

// The password is asked for each time, of the user themselves.
func TestPolkitAction(t *testing.T) {
	text, err := os.ReadFile(action)
	if err != nil {
		t.Fatal(err)
	}
	var policy struct {
		Actions []struct {
			ID       string `xml:"id,attr"`
			Defaults struct {
				Rules []struct {
					XMLName xml.Name
					Value   string `xml:",chardata"`
				} `xml:",any"`
			} `xml:"defaults"`
		} `xml:"action"`
	}
	if err := xml.Unmarshal(text, &policy); err != nil {
		t.Fatal(err)
	}
	if len(policy.Actions) != 1 || policy.Actions[0].ID != polkit.Action {
		t.Fatalf("the actions are %+v, want one, %s", policy.Actions, polkit.Action)
	}
	got := map[string]string{}
	for _, rule := range policy.Actions[0].Defaults.Rules {
		got[rule.XMLName.Local] = rule.Value
	}
	want := map[string]string{"allow_any": "auth_self", "allow_inactive": "auth_self", "allow_active": "auth_self"}
	if !maps.Equal(got, want) {
		t.Errorf("the defaults are %v, want %v", got, want)
	}
}

func TestUnit(t *testing.T) {
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	section, set := "", map[string]string{}
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				t.Errorf("line %d is no setting: %s", n+1, line)
			}
			set[section+"."+key] = value
		}
	}
	for key, want := range map[string]string{
		"Service.ExecStart": "hookmux daemon --service", "Service.UMask": "0077", "Service.Restart": "always",
		"Install.WantedBy": "default.target", "Service.Type": "exec",
	} {
		if set[key] != want {
			t.Errorf("%s is %q, want %q", key, set[key], want)
		}
	}
}

// TestSystemdTakesTheUnit asks systemd itself.
func TestSystemdTakesTheUnit(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	// It looks whether the program is there; any will do.
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, filepath.Base(unit))
	changed := strings.Replace(string(text), "ExecStart=hookmux ", "ExecStart="+program+" ", 1)
	if err := os.WriteFile(at, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(verify, "--user", "verify", "--man=no", at)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "SYSTEMD_LOG_LEVEL=warning")
	out, err := cmd.CombinedOutput()
	var about []string
	for _, line := range strings.Split(string(out), "\n") {
		// Other units of this machine are not our business.
		if strings.Contains(line, "hookmux.service") {
			about = append(about, line)
		}
	}
	if len(about) > 0 {
		t.Errorf("systemd says:\n%s; want len(about) <= 0", strings.Join(about, "\n"))
	} else if err != nil {
		t.Skipf("systemd-analyze does not work here: %v: %s", err, out)
	}
}

func TestPlistIsWellFormed(t *testing.T) {
	f, err := os.Open(plist)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	d.Strict = true
	var path, keys []string
	kind := map[string]string{} // key → element and text of its value
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			path = append(path, e.Name.Local)
			if n := len(keys); n > 0 && e.Name.Local != "key" && len(path) == 3 {
				kind[keys[n-1]] = e.Name.Local
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			at := strings.Join(path, "/")
			if at == "plist/dict/key" {
				keys = append(keys, string(e))
			} else if n := len(keys); n > 0 && strings.TrimSpace(string(e)) != "" && len(path) >= 3 {
				kind[keys[n-1]] += " " + string(e)
			}
		}
	}
	for key, want := range map[string]string{
		"Label": "string io.github.hookmux.daemon", "Umask": "integer 63", "KeepAlive": "true", "RunAtLoad": "true",
	} {
		if kind[key] != want {
			t.Errorf("%s is %q, want %q", key, kind[key], want)
		}
	}
	if !strings.Contains(kind["ProgramArguments"], "exec hookmux daemon --service") {
		t.Errorf(`it runs %q; want "exec hookmux daemon --service" in kind["ProgramArguments"]`,
			kind["ProgramArguments"])
	}
	if want := strings.TrimSuffix(filepath.Base(plist), ".plist"); !strings.HasSuffix(kind["Label"], want) {
		t.Errorf("launchd wants the file to be called like its label %s", kind["Label"])
	}
}
