// Command raise lifts the pinned version of agents to the newest one that npm
// has, runs the checks with it, and shows what changed against the last
// recorded verification:
//
//	go run ./lab/gen/raise            # every agent
//	go run ./lab/gen/raise codex grok
//	go run ./lab/gen/raise -try       # run the checks, keep the pins
//
// What is raised: the pin in the table, the version the catalogue says it was
// tried with, and the recorded verification.
//
// A version under which something no longer holds is not pinned unless -force
// is given: then the catalogue has to be corrected in the same change.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/lab/verify"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drift"
	"github.com/hookmux/hookmux/lab/verify/isolate"
)

func main() {
	table := flag.String("table", "internal/realagents/table.go", "the file with the pins")
	catalogue := flag.String("catalogue", "agent/data", "the folder with what is claimed about each agent")
	record := flag.String("record", "agent/recordings", "where the new verification is recorded")
	try := flag.Bool("try", false, "run the checks only; pin and record nothing")
	force := flag.Bool("force", false, "pin although something no longer holds")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = realagents.Names()
	}
	failed := false
	for _, name := range names {
		if err := raise(name, places{*table, *catalogue, *record}, *try, *force); err != nil {
			fmt.Fprintf(os.Stderr, "raise: %v\n", err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
	fmt.Println("then: go generate ./agent/... and make test")
}

// places are the files that record which versions were tried.
type places struct{ table, catalogue, record string }

func raise(name string, at places, try, force bool) error {
	a, ok := realagents.Find(name)
	if !ok {
		return fmt.Errorf("%s: no such agent; known are %s", name, strings.Join(realagents.Names(), " "))
	}
	newest, err := drift.NewestRelease(context.Background(), a)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if newest == a.Version {
		fmt.Printf("%s: %s is the newest\n", name, newest)
		return nil
	}
	fmt.Printf("%s: %s → %s\n", name, a.Version, newest)
	was := a.Version
	a.Version = newest
	ctx := context.Background()
	in, err := realagents.InstallAgent(ctx, a, "", func(l string) { fmt.Println("  " + l) })
	if err != nil {
		return err
	}
	into, err := os.MkdirTemp("", "hookmux-raise-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(into)
	bin, err := build(into)
	if err != nil {
		return err
	}
	report, err := verify.Run(ctx, verify.Options{
		Targets: []verify.Target{{Name: name, In: in}}, Bin: bin, Record: filepath.Join(into, "record"),
		Isolation: isolate.BehindProxies,
		Progress:  func(l string) { fmt.Println("  " + l) },
	})
	if err != nil {
		return err
	}
	r := report.Agents[0]
	if r.Problem != "" {
		return fmt.Errorf("%s %s: %s", name, newest, r.Problem)
	}
	for _, line := range changes(name, r) {
		fmt.Println("  " + line)
	}
	if r.Count(checks.Fails) > 0 && !force {
		return fmt.Errorf("%s: stays at %s: %d checks fail with %s; correct the catalogue, then -force", name, was,
			r.Count(checks.Fails), newest)
	}
	if try {
		return nil
	}
	if err := pin(at.table, name, "Version", was, newest); err != nil {
		return err
	}
	if a.Prints != "" && a.Prints != r.Version {
		if err := pin(at.table, name, "Prints", a.Prints, r.Version); err != nil {
			return err
		}
	}
	if err := writeTriedVersion(at.catalogue, name, r.Version); err != nil {
		return err
	}
	for _, ext := range []string{".json", ".jsonl"} {
		b, err := os.ReadFile(filepath.Join(into, "record", name+ext))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(at.record, name+ext), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var triedLine = regexp.MustCompile(`(?m)^tried:[^\n]*$`)

// writeTriedVersion writes into the catalogue which version its claims were tried with. An
// agent that it does not know has none.
func writeTriedVersion(catalogue, name, version string) error {
	file := filepath.Join(catalogue, name+".yaml")
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := len(triedLine.FindAll(b, -1)); n != 1 {
		return fmt.Errorf("%s: has %d lines that begin with tried:, not one; correct it", file, n)
	}
	return os.WriteFile(file, triedLine.ReplaceAll(b, []byte("tried: "+version)), 0o644)
}

func build(into string) (string, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-o", into+string(filepath.Separator), "./cmd/hookmux",
		"./cmd/hookmux-hook")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return into, cmd.Run()
}

// changes compares a run with the recorded one, row by row.
func changes(name string, r *verify.AgentReport) []string {
	all, err := recordings.Summaries()
	if err != nil {
		return []string{err.Error()}
	}
	before := map[string]string{}
	for _, row := range all[name].Rows {
		before[row.Check+" "+row.Event+" "+row.Claim] = row.Mark
	}
	var out []string
	for _, row := range r.Rows {
		was := before[row.Check+" "+row.Event+" "+row.Claim]
		if was == "" {
			was = "new"
		}
		if was != string(row.Mark) {
			out = append(out, fmt.Sprintf("%s → %s %s (%s): %s", was, row.Mark, row.ID(), row.Check, row.Why))
		}
	}
	if len(out) == 0 {
		out = []string{fmt.Sprintf("nothing changed: %d ✓ %d –", r.Count(checks.Holds), r.Count(checks.Unsure))}
	}
	return out
}

// pin writes a new version into the table.
func pin(table, name, field, was, now string) error {
	b, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	text, err := repin(string(b), name, field, was, now)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	return os.WriteFile(table, []byte(text), 0o644)
}

// repin changes one field of an agent's entry and nothing else.
func repin(text, name, field, was, now string) (string, error) {
	at := strings.Index(text, fmt.Sprintf("Name: %q", name))
	if at < 0 {
		return "", fmt.Errorf("no entry of %s", name)
	}
	end := len(text)
	if next := strings.Index(text[at+1:], "Name: \""); next >= 0 {
		end = at + 1 + next
	}
	entry := text[at:end]
	old := fmt.Sprintf("%s: %q", field, was)
	if strings.Count(entry, old) != 1 {
		return "", fmt.Errorf("the entry of %s does not say %s once", name, old)
	}
	return text[:at] + strings.Replace(entry, old, fmt.Sprintf("%s: %q", field, now), 1) + text[end:], nil
}
