package agent

import (
	"slices"
	"strings"
	"testing"
)

// What a file would make guards see less of is said, with its line.
func TestInspectWarns(t *testing.T) {
	const own = "name: mine\ndialect: claude\n"
	const before = own + "fields: {tool_name: [t], tool_input: [i]}\nmarks: {programs: [mine]}\n" +
		"tools: [{name: run, kind: shell, commands: [c]}]\nevents:\n  - {name: A, kind: tool.before, install: default"
	for text, want := range map[string]string{
		own:                                 `mine.yaml: mine: no marks are named, so what it runs could pass for you`,
		own + "marks: {programs: [mine]}\n": `mine.yaml: mine: there is no install section`,
		before + "}\n":                      `mine.yaml:7: mine: event A: it carries no deny`,
		before + ", answer: tool, carries: {deny: \"own: x\"}}\n":                                     `mine: guards see nothing of a tool that is not described`,
		before + ", answer: tool, carries: {deny: \"own: x\"}, deny: {exit: 0}}\n":                    `mine.yaml:7: mine: event A: a refusal is written as silence`,
		before + ", answer: tool, carries: {deny: \"own: x\"}, neutral: {stdout: allow}}\n":           `mine.yaml:7: mine: event A: no opinion is written as allow`,
		"name: claude\ntools:\n  - {name: Bash, kind: shell, commands: [cmd]}\n":                      `mine.yaml:3: claude: tool Bash: guards no longer see command, which were its commands`,
		"name: claude\ntools:\n  - {name: Bash, kind: other, commands: [command]}\n":                  `mine.yaml:3: claude: tool Bash was shell and becomes other`,
		"name: claude\nevents:\n  - {name: PreToolUse, kind: other, install: default}\n":              `mine.yaml:3: claude: event PreToolUse was tool.before: guards are no longer asked there`,
		"name: claude\nevents:\n  - {name: Stop, kind: turn.end, install: never, why: x}\n":           `mine.yaml:3: claude: event Stop is no longer installed`,
		"name: claude\nfields: {tool_name: [other]}\n":                                                `mine.yaml:2: claude: tool_name is read from other before tool_name`,
		"name: claude\ndialect: codex\nevents: []\n":                                                  `mine.yaml:2: claude: answers are written as codex does`,
		"name: kimi\nevents:\n  - {name: PreToolUse, kind: tool.before, install: optional, why: x}\n": `mine.yaml:3: kimi: event PreToolUse no longer carries deny`,
	} {
		seen := Builtin().Inspect(File{Name: "mine.yaml", Data: []byte(text)})
		var lines []string
		for _, w := range seen.Warnings {
			lines = append(lines, w.String())
		}
		if len(seen.Problems) > 0 || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
			t.Errorf("%s\nproblems %v, warnings\n%s\nwant %q among the warnings", text, seen.Problems,
				strings.Join(lines, "\n"), want)
		}
	}
}

// A file that adds something harmless is warned about by nothing, and what it is
// laid over stays as it was.
func TestInspectLeavesTheCatalogueAlone(t *testing.T) {
	base, _ := Builtin().Agent("claude")
	events := len(base.Events)
	seen := Builtin().Inspect(File{Name: "x.yaml",
		Data: []byte("name: claude\nevents:\n  - {name: Brandnew, kind: user.attention, install: default}\n")})
	if len(seen.Problems)+len(seen.Warnings) > 0 || seen.Adds || len(seen.Agent.Events) != events+1 {
		t.Errorf("inspection %+v, want no problem, no warning and %d events", seen, events+1)
	}
	if _, ok := seen.Agent.Event("Brandnew"); !ok {
		t.Error("Event(Brandnew) is not there, want it in the entry that would be")
	}
	if len(base.Events) != events {
		t.Errorf("the built-in entry has %d events, want %d as before", len(base.Events), events)
	}
	if seen := Builtin().Inspect(File{Name: "x.yaml", Data: []byte("name: X\n")}); len(seen.Problems) != 1 ||
		seen.Agent != nil {
		t.Errorf("inspection of a bad name = %+v, want one problem and no agent", seen)
	}
}

// Catalogues that share entries decode side by side: nothing is compiled twice.
func TestCataloguesShareEntries(t *testing.T) {
	c, problems := LoadFiles([]File{{Name: "mine.yaml", Data: []byte(ownAgent)}})
	if len(problems) > 0 {
		t.Fatalf("problems = %v, want none", problems)
	}
	for _, a := range Builtin().Agents() {
		if got, _ := c.Agent(a.Name); got != a {
			t.Errorf("%s is another entry, want the built-in one", a.Name)
		}
	}
	if _, ok := Builtin().Agent("mine"); ok {
		t.Error("the built-in catalogue has mine, want it left alone")
	}
}
