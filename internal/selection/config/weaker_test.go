package config

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/selection/confirmed"
)

// What becomes weaker is named whatever else a text holds, and nothing else is.
func TestWeaker(t *testing.T) {
	comments := strings.Repeat("  // changes nothing\n", 300)
	for _, c := range []struct {
		before, after string
		basis         confirmed.State
		want          string
	}{
		{`{}`, "{\n" + comments + "\"guard.own-files\": \"off\",\n" + comments + "\"journal.keep\": \"60d\"\n}", confirmed.Confirmed,
			"guard.own-files: block → off"},
		{`{"guard.destructive":"block"}`, `{}`, confirmed.Confirmed, "guard.destructive: block → off"},
		{`{"guard.destructive":"block"}`, `{"guard.destructive":"log"}`, confirmed.Confirmed,
			"guard.destructive: block → log"},
		{`{"guard.destructive":"ask"}`, `{"guard.destructive":"block"}`, confirmed.Confirmed, ""},
		{`{"approvals.policy":"all"}`, `{"approvals.policy":"off","approvals.policy.claude":"off"}`, confirmed.Confirmed,
			"approvals.policy: all → off, approvals.policy.claude: permission → off"},
		{`{}`, `{"guard.allow":["destructive.git"]}`, confirmed.Confirmed, "guard.allow: nothing → destructive.git"},
		{`{"guard.allow":["a","b"]}`, `{"guard.allow":["a"]}`, confirmed.Confirmed, ""},
		{`{"guard.network.hosts":["a"]}`, `{}`, confirmed.Confirmed, "guard.network.hosts: a → nothing"},
		{`{}`, `{"notify.command":"x"}`, confirmed.Confirmed, "notify.command: nothing → x"},
		{`{}`, `{"modules":["/x.ts"]}`, confirmed.Confirmed, "modules: nothing → /x.ts"},
		{`{"status":"block"}`, `{"status":"off","journal.keep":"1d"}`, confirmed.Confirmed, ""},
		{``, `{"guard.own-files":"off"}`, confirmed.New, "guard.own-files: block → off"},
		{`{}`, `{`, confirmed.Confirmed, ""}, // which cannot be confirmed
	} {
		if got := strings.Join(Weaker([]byte(c.before), []byte(c.after), c.basis), ", "); got != c.want {
			t.Errorf("%.60q to %.60q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
	lost := strings.Join(Weaker(nil, []byte(`{"guard.own-files":"block"}`), confirmed.Lost), ", ")
	if !strings.Contains(lost, "guard.destructive: block → off") || strings.Contains(lost, "own-files") {
		t.Errorf("after what was confirmed was lost: %q, want the guards that all are on", lost)
	}
}
