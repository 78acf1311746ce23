package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/hookcmd"
	"github.com/hookmux/hookmux/internal/policy/verbs"
)

// TestVerbsAreTheTree holds the table of verbs against the tree of commands. A
// verb that is missing from it is not protected by guard.own-files.
func TestVerbsAreTheTree(t *testing.T) {
	root := newRoot(&cmdutil.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	var tree []string
	var collect func(cmd *cobra.Command)
	collect = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			path := strings.TrimPrefix(c.CommandPath(), "hookmux ")
			if path == "help" || path == "completion" || strings.HasPrefix(path, "completion ") ||
				strings.HasPrefix(path, "__") {
				continue
			}
			tree = append(tree, path)
			for _, alias := range c.Aliases {
				tree = append(tree, strings.TrimSuffix(path, c.Name())+alias)
			}
			collect(c)
		}
	}
	collect(root)
	// The verbs of hooks come after the agent, which is not cobra's grammar.
	for _, word := range hookcmd.HookVerbs() {
		tree = append(tree, "hooks "+word)
	}
	var table []string
	for _, v := range verbs.All() {
		table = append(table, v.Path)
	}
	for _, path := range tree {
		if !slices.Contains(table, path) {
			t.Errorf("`hookmux %s` has no row in internal/policy/verbs: say there whether it reads, uses, decides or weakens",
				path)
		}
	}
	for _, path := range table {
		if !slices.Contains(tree, path) {
			t.Errorf("internal/policy/verbs has a row for `hookmux %s`, which does not exist", path)
		}
	}
}
