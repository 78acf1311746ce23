package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed are the packages outside of the standard library that the service may link.
var allowed = []string{
	"golang.org/x/sys/unix",
	"github.com/hookmux/hookmux/cmd/hookmux-keeper",
	"github.com/hookmux/hookmux/internal/keeper",
	"github.com/hookmux/hookmux/internal/platform/files",
	"github.com/hookmux/hookmux/internal/platform/paths",
	"github.com/hookmux/hookmux/internal/version",
}

// forbidden are packages of the standard library that it has no use for.
var forbidden = []string{"net", "os/exec", "net/http", "encoding/json", "plugin"}

func TestDependencies(t *testing.T) {
	for _, program := range []string{".", "../hookmux-start"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}", program)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			path, standard, _ := strings.Cut(strings.TrimSpace(line), " ")
			own := path == "github.com/hookmux/hookmux/cmd/hookmux-start"
			if standard == "false" && !own && !slices.Contains(allowed, path) || slices.Contains(forbidden, path) {
				t.Errorf("%s has come to link %s", program, path)
			}
		}
	}
}
