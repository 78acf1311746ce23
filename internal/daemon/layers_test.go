package daemon

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hookmux/hookmux/"

// mayImport says which services a service may import directly, with all
// packages below them. Every service takes what it needs of another as an
// interface of its own; it imports the other only for types that go through
// that interface, and the reason stands beside it.
var mayImport = map[string][]string{
	"internal/services":          {"internal/authority"},
	"internal/authority":         {"internal/selection/config"}, // its table says which settings take protection away
	"internal/authority/callers": {"internal/authority"},
	"internal/authority/devices": {"internal/services", "internal/approvals/ledger"},
	"internal/authority/access":  {"internal/services", "internal/authority", "internal/approvals/ledger"},
	"internal/recorder":          {"internal/services"},
	"internal/sessions":          {"internal/services", "internal/selection/config"},
	"internal/approvals": {
		"internal/services", "internal/authority",
		"internal/sessions/window", // what an agent's window shows
	},
	"internal/selection": {
		"internal/services", "internal/authority",
	},
	"internal/tshook": {
		"internal/services", "internal/authority", "internal/selection",
		"internal/approvals/queue", // what a file asks a person
	},
	"internal/protocols/cmux": {"internal/services", "internal/approvals"},
	"internal/protocols/mux0": {"internal/services", "internal/sessions/state"}, // reports about terminals
	"internal/pipeline": {
		"internal/services", "internal/authority", "internal/approvals", "internal/sessions",
		"internal/tshook/host", // the types of a call
	},
	"internal/pipeline/evaluate": {"internal/approvals/policy", "internal/selection"},
	"internal/usage":             {"internal/services"},
	"internal/telemetry":         {"internal/services"},
	"internal/fleet/member": {
		"internal/services", "internal/fleet",
		"internal/approvals/ledger", // the type of a signature
		"internal/recorder/journal", // what the outbox has
	},
	"internal/fleet/protocol": {"internal/recorder/journal"},                   // what is asked of a journal
	"internal/fleet/server":   {"internal/fleet", "internal/recorder/journal"}, // the central journal is one like a member's
	"internal/ui/notify":      {"internal/services", "internal/selection/config"},
	"internal/ui/web":         {"internal/services", "internal/approvals/ledger", "internal/authority/devices"},
	"internal/fleet":          {"internal/services"},
	"internal/fleet/remote": {
		"internal/services", "internal/fleet", "internal/approvals/ledger", "internal/authority/devices",
		"internal/recorder/journal", // what another machine journalled has one of its own
	},
	"internal/server": {
		"internal/services", "internal/authority",
		"internal/recorder", // the type of a cursor
	},
}

// mayImportDaemon are the only packages that may know the composition.
var mayImportDaemon = []string{"internal/cli", "internal/daemon", "plugins", "cmd", "examples"}

func below(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// serviceOf returns the service a package belongs to, the innermost one; "" for none.
func serviceOf(path string) string {
	innermost := ""
	for service := range mayImport {
		if below(path, service) && len(service) > len(innermost) {
			innermost = service
		}
	}
	return innermost
}

// imports returns what each package of the module imports of it, tests aside.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], module)
		all[from] = nil
		for _, word := range words[1:] {
			if to, own := strings.CutPrefix(word, module); own {
				all[from] = append(all[from], to)
			}
		}
	}
	return all
}

func TestServicesDoNotKnowTheDaemonNorEachOther(t *testing.T) {
	seen := map[string]bool{}
	for from, list := range imports(t) {
		service := serviceOf(from)
		seen[service] = true
		for _, to := range list {
			if to == "internal/daemon" && !slices.ContainsFunc(mayImportDaemon,
				func(f string) bool { return below(from, f) }) {
				t.Errorf("%s imports internal/daemon; a service takes what it needs as an interface of its own", from)
			}
			// The daemon starts the page for browsers and the notifications, and only those.
			started := from == "internal/daemon" && (to == "internal/ui/web" || to == "internal/ui/notify")
			if below(to, "internal/ui") && !below(from, "internal/ui") && !started &&
				(service != "" || below(from, "internal/daemon")) {
				t.Errorf("%s imports %s; what shows things to people goes through the client", from, to)
			}
			other := serviceOf(to)
			if service == "" || other == "" || other == service {
				continue
			}
			if !slices.ContainsFunc(mayImport[service], func(f string) bool { return below(to, f) }) {
				t.Errorf("%s imports %s, which is not in mayImport of %s", from, to, service)
			}
		}
	}
	for service := range mayImport {
		if !seen[service] {
			t.Errorf("%s is in mayImport and does not exist", service)
		}
	}
}

// folderOf returns the folder that a package is in: one below internal/, or one at the top.
func folderOf(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return "internal/" + parts[1]
	}
	return parts[0]
}

// A folder is a subject, and no folder imports itself by way of others.
func TestFoldersImportInOneDirection(t *testing.T) {
	edges := map[string]map[string]string{} // folder → imported folder → which package imports which
	count := 0
	for from, list := range imports(t) {
		for _, to := range list {
			if a, b := folderOf(from), folderOf(to); a != b {
				if edges[a] == nil {
					edges[a] = map[string]string{}
				}
				if edges[a][b] == "" {
					count++
				}
				edges[a][b] = from + " imports " + to
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d imports between folders were found, want those of the whole tree", count)
	}
	done := map[string]bool{}
	var follow func(folder string, way []string)
	follow = func(folder string, way []string) {
		if i := slices.Index(way, folder); i >= 0 {
			var links []string
			for j, from := range way[i:] {
				to := folder
				if i+j+1 < len(way) {
					to = way[i+j+1]
				}
				links = append(links, edges[from][to])
			}
			t.Errorf("these folders import each other in a circle: %s", strings.Join(links, "; "))
			return
		}
		if done[folder] {
			return
		}
		for _, next := range slices.Sorted(maps.Keys(edges[folder])) {
			follow(next, append(slices.Clone(way), folder))
		}
		done[folder] = true
	}
	for _, folder := range slices.Sorted(maps.Keys(edges)) {
		follow(folder, nil)
	}
}

// The programs link nothing that only developers run.
func TestProgramsLinkNoTools(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := 0
	for line := range strings.Lines(string(out)) {
		path, own := strings.CutPrefix(strings.TrimSpace(line), module)
		if !own {
			continue
		}
		linked++
		for _, tool := range []string{"lab", "examples", "internal/daemontest", "internal/realagents",
			"internal/authority/attempts", "internal/daemontest/timeline"} {
			if below(path, tool) || strings.HasSuffix(path, "test") {
				t.Errorf("a program links %s, which is for developers", path)
				break
			}
		}
	}
	if linked < 50 {
		t.Errorf("%d packages of ours are linked, want the programs' whole tree", linked)
	}
}
