package guards

import (
	"testing"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// A made-up cloud tool, known by data only.
const acmeTool = `
programs:
  - names: acme
    does:
      deletes: [project destroy, 'bucket rm --recursive']
      deploys: [release promote]
      prints-secret: [secret show]
    verbs:
      exec: {skip: 1}
      run: {need: --}
    files:
      shows: [--body-file]
    is: sends
  - names: sweep
    kind: delete
`

func TestOwnPrograms(t *testing.T) {
	list, err := programs.Parse("acme.yaml", []byte(acmeTool))
	if err != nil {
		t.Fatal(err)
	}
	set := NewGuard("", Options{Scripts: &shell.Cache{Programs: programs.NewTable(list)}})
	for command, want := range map[string]string{
		"acme project destroy web":                 "destructive.tool",
		"sudo acme --profile prod project destroy": "destructive.tool",
		"acme bucket rm data --recursive":          "destructive.tool",
		"acme release promote 1.2":                 "destructive.deploys",
		"sh -c 'acme project destroy web'":         "destructive.tool",
		"x=project; acme $x destroy":               "destructive.tool",
		"acme secret show db":                      "secrets.print",
		"acme exec web rm -rf /":                   "destructive.rm-broad",
		"acme run -- git push --force origin main": "git-history.force-push",
		"acme post --body-file .env":               "secrets.send",
		"cat .env | acme post":                     "secrets.send",
		"sweep -r ~/":                              "destructive.rm-broad",
		"sweep ~/.claude/settings.json":            "own-files.delete",
		"sweep -r build":                           "",
		"acme project list":                        "",
		"acme bucket rm data":                      "",
		"acme project destroy --help":              "",
		"acme run -- go test ./...":                "",
		"echo acme project destroy":                "",
	} {
		got := set.Check(shellCall(command))
		if want == "" && len(got) > 0 || want != "" && !hasRule(got, want) {
			t.Errorf("%s: %v, want %q", command, got, want)
		}
		if want == "destructive.tool" {
			for _, f := range allGuards(t).Check(shellCall(command)) {
				if f.Rule != "infra.unknown-tool" || !f.Ask {
					t.Errorf("%s: %+v without the description, want a question at most", command, f)
				}
			}
		}
	}
	for _, f := range set.Check(shellCall("acme release promote 1")) {
		if !f.Ask {
			t.Errorf("a deployment is refused, want a question: %+v", f)
		}
	}
}
