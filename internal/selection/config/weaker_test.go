package config

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// What becomes weaker is named whatever else a text holds, and nothing else is.
func TestWeaker(t *testing.T) {
	comments := strings.Repeat("  // changes nothing\n", 300)
	for _, c := range []struct {
		before, after string
		basis         accepted.State
		want          string
	}{
		{`{}`, "{\n" + comments + "\"guard.own-files\": \"off\",\n" + comments + "\"journal.keep\": \"60d\"\n}", accepted.Accepted,
			"guard.own-files: block → off"},
		{`{"guard.destructive":"block"}`, `{}`, accepted.Accepted, "guard.destructive: block → off"},
		{`{"guard.destructive":"block"}`, `{"guard.destructive":"log"}`, accepted.Accepted,
			"guard.destructive: block → log"},
		{`{"guard.destructive":"ask"}`, `{"guard.destructive":"block"}`, accepted.Accepted, ""},
		{`{"approvals.policy":"all"}`, `{"approvals.policy":"off","approvals.policy.claude":"off"}`, accepted.Accepted,
			"approvals.policy: all → off, approvals.policy.claude: permission → off"},
		{`{}`, `{"guard.allow":["destructive.git"]}`, accepted.Accepted, "guard.allow: nothing → destructive.git"},
		{`{"guard.allow":["a","b"]}`, `{"guard.allow":["a"]}`, accepted.Accepted, ""},
		{`{"guard.network.hosts":["a"]}`, `{}`, accepted.Accepted, "guard.network.hosts: a → nothing"},
		{`{}`, `{"notify.command":"x"}`, accepted.Accepted, "notify.command: nothing → x"},
		{`{}`, `{"modules":["/x.ts"]}`, accepted.Accepted, "modules: nothing → /x.ts"},
		{`{}`, `{"mcp.projects":["/w"]}`, accepted.Accepted, "mcp.projects: nothing → /w"},
		{`{"mcp.projects":["/w"]}`, `{"mcp.projects":["all"]}`, accepted.Accepted, "mcp.projects: /w → all"},
		{`{"status":"block"}`, `{"status":"off","journal.keep":"1d"}`, accepted.Accepted, ""},
		{``, `{"guard.own-files":"off"}`, accepted.New, "guard.own-files: block → off"},
		{`{}`, `{`, accepted.Accepted, ""}, // which cannot be accepted
	} {
		if got := strings.Join(Weaker([]byte(c.before), []byte(c.after), c.basis), ", "); got != c.want {
			t.Errorf("%.60q to %.60q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
	lost := strings.Join(Weaker(nil, []byte(`{"guard.own-files":"block"}`), accepted.Lost), ", ")
	if !strings.Contains(lost, "guard.destructive: block → off") || strings.Contains(lost, "own-files") {
		t.Errorf("after what was accepted was lost: %q, want the guards that all are on", lost)
	}
}
