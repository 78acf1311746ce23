//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

// What each role may do, verb by verb: docs/fleet.md says the same.
func TestFleetRoles(t *testing.T) {
	t.Parallel()
	desk := newMachine(t)
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk")
	machines := map[string]*machine{}
	for _, role := range []string{"member", "reader", "operator"} {
		machines[role] = newMachine(t)
		machines[role].run("fleet", "join", desk.invite(role), "--name", role+"s")
	}
	newMachine(t).run("fleet", "join", desk.invite("member"), "--name", "spare")
	machines["operator"].followInbox()
	desk.waitForOperator()
	answered := make(chan string, 2)
	for _, command := range []string{"make deploy", "make clean"} {
		go func() {
			answered <- desk.hook("claude", "PermissionRequest", shellCall("PermissionRequest", "s-1", "/tmp", command))
		}()
	}
	var items []wire.InboxRequest
	eventuallyFleet(t, "the desk's requests wait", func() bool {
		desk.json(&items, "inbox")
		return len(items) == 2
	})
	request, other := items[0].ID, items[1].ID
	for _, role := range []string{"reader", "operator"} {
		eventuallyFleet(t, "the "+role+" sees the desk's requests", func() bool {
			said := machines[role].run("inbox", "--host", "desk")
			return strings.Contains(said, "make deploy") && strings.Contains(said, "make clean")
		})
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "own.yaml"), []byte("version: 1\nrules:\n  - {id: no-deploys, why: deploys are yours, "+
		"match: {program: deploy}, decide: deny, examples: {hit: [deploy it]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		operators = "only operators of the fleet"
		readers   = "only operators and readers"
		unknown   = "there's no request"
		pushers   = "only operators can push a policy"
		readOnly  = "read-only from here"
	)
	// Of each role, what it's refused with; "": it works, and shows the last text.
	for _, c := range []struct {
		verb                     []string
		member, reader, operator string
		shows                    string
	}{
		{[]string{"fleet", "status"}, "", "", "", "connected to"},
		{[]string{"fleet"}, "", "", "", "connected to"},
		{[]string{"fleet", "list"}, "", "", "", "desk"},
		{[]string{"fleet", "policy", "status"}, "", "", "", ""},
		{[]string{"log", "--host", "all"}, readers, "", "", ""},
		{[]string{"usage", "--host", "all"}, readers, "", "", ""},
		{[]string{"audit", "export", "--host", "desk"}, readers, "", "", ""},
		{[]string{"rules", "replay", "--host", "all", "--rules", filepath.Join(folder, "own.yaml")}, readers, "", "", ""},
		{[]string{"show", "desk/s-1"}, "desk/s-1", "", "", "s-1"},
		{[]string{"send", "desk/s-1", "go on"}, "desk/s-1", readOnly, "can't", ""},
		{[]string{"skip", "desk/" + other}, unknown, readOnly, "", "skipped"},
		{[]string{"deny", "desk/" + request}, unknown, readOnly, "", "denied"},
		{[]string{"fleet", "invite"}, operators, operators, "", "hookmux fleet join hmf1-"},
		{[]string{"fleet", "policy", "push", folder}, pushers, pushers, "", ""},
		{[]string{"fleet", "policy", "clear", "--yes"}, pushers, pushers, "", ""},
		{[]string{"fleet", "remove", "spare"}, operators, operators, "", "removed: spare"},
	} {
		for _, one := range []struct{ role, want string }{{"member", c.member}, {"reader", c.reader}, {"operator", c.operator}} {
			out, err := machines[one.role].try(c.verb...)
			if one.want == "" && (err != nil || !strings.Contains(out, c.shows)) {
				t.Errorf("a %s's %q: error %v, %s; want it to work and show %q", one.role, c.verb, err, out, c.shows)
			}
			if one.want != "" && (err == nil || !strings.Contains(out, one.want)) {
				t.Errorf("a %s's %q: error %v, %s; want it refused with %q", one.role, c.verb, err, out, one.want)
			}
		}
	}
	if heard := <-answered + <-answered; strings.Count(heard, `"deny"`) != 1 || strings.Contains(heard, "allow") {
		t.Errorf("the agents on the desk heard %s, want the operator's no, and nothing", heard)
	}
	for role, sees := range map[string]bool{"member": false, "reader": true, "operator": true} {
		var sessions []wire.Session
		if machines[role].json(&sessions, "ps"); len(sessions) > 0 != sees {
			t.Errorf("a %s sees %d sessions of others, want any: %v", role, len(sessions), sees)
		}
		if out := machines[role].run("fleet", "leave"); !strings.Contains(out, "has left the fleet") {
			t.Errorf("a %s leaves: %s", role, out)
		}
	}
}
