// Command catalogue writes agent/catalogue.json from agent/data and
// agent/others.yaml. Reading that many YAML files takes a fifth of a second, which every
// command would pay at its start; the JSON takes a few milliseconds.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/hookmux/hookmux/agent"
)

func main() {
	dir := flag.String("agent", "agent", "the folder of the package agent")
	flag.Parse()
	compiled, problems := agent.Compile(*dir)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, "catalogue:", p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
	if err := os.WriteFile(*dir+"/catalogue.json", compiled, 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}
