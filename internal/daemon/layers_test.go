package daemon

import (
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
	"internal/services":  {"internal/problems", "internal/authority", "internal/recorder/redact"},
	"internal/problems":  {"internal/recorder/redact"},
	"internal/authority": {"internal/selection/config"}, // which settings take protection away stands in their table
	"internal/callers":   {"internal/authority"},
	"internal/terminals": {"internal/services", "internal/authority", "internal/approvals/ledger"},
	"internal/recorder":  {"internal/services"},
	"internal/sessions":  {"internal/services", "internal/recorder/redact", "internal/selection/config"},
	"internal/approvals": {
		"internal/services", "internal/problems", "internal/recorder/redact", "internal/authority",
		"internal/sessions/resumeargs", "internal/sessions/windowstate", // how an agent was started, and what its window shows
	},
	"internal/selection": {
		"internal/services", "internal/problems", "internal/recorder/redact", "internal/approvals/policy", "internal/authority",
		"internal/approvals/ledger",
	},
	"internal/tshook": {
		"internal/services", "internal/authority", "internal/recorder/redact", "internal/selection",
		"internal/approvals/queue", // what a file asks a person
	},
	"internal/compat": {
		"internal/services", "internal/problems", "internal/authority", "internal/approvals",
		"internal/sessions/state", // reports about terminals
	},
	"internal/pipeline": {
		"internal/services", "internal/authority", "internal/recorder/redact", "internal/callers", "internal/approvals",
		"internal/sessions", "internal/tshook/host", // the types of a call
	},
	"internal/usage": {"internal/services"},
	"internal/notify": {
		"internal/services", "internal/recorder/redact", "internal/selection/config",
	},
	"internal/ui/web": {"internal/services", "internal/approvals/ledger", "internal/recorder/redact"},
	"internal/server": {
		"internal/services", "internal/authority",
		"internal/recorder", // the type of a cursor
	},
}

// mayImportDaemon are the only packages that may know the composition.
var mayImportDaemon = []string{"internal/cli", "internal/verify", "internal/daemon", "internal/ui/demo", "plugins", "bench", "cmd",
	"examples"}

func below(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// serviceOf is the service a package belongs to; "" for none.
func serviceOf(path string) string {
	for service := range mayImport {
		if below(path, service) {
			return service
		}
	}
	return ""
}

func TestServicesDoNotKnowTheDaemonNorEachOther(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], module)
		service := serviceOf(from)
		seen[service] = true
		for _, word := range words[1:] {
			to, own := strings.CutPrefix(word, module)
			if !own {
				continue
			}
			if to == "internal/daemon" && !slices.ContainsFunc(mayImportDaemon,
				func(f string) bool { return below(from, f) }) {
				t.Errorf("%s imports internal/daemon; a service takes what it needs as an interface of its own", from)
			}
			// The page for browsers is served by the daemon, which only starts it.
			page := service == "internal/ui/web" || from == "internal/daemon" && to == "internal/ui/web"
			if below(to, "internal/ui") && !page && (service != "" || below(from, "internal/daemon")) {
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
		for _, tool := range []string{"bench", "examples", "internal/gen", "internal/daemontest", "internal/e2e",
			"internal/demo", "internal/chaos", "internal/verify/soak", "internal/verify/scenarios"} {
			if below(path, tool) {
				t.Errorf("a program links %s, which is for developers", path)
			}
		}
	}
	if linked < 50 {
		t.Errorf("%d packages of ours are linked, want the programs' whole tree", linked)
	}
}
