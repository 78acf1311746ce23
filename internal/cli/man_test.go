package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	root := &cobra.Command{Use: "hookmux", Short: "One layer", Example: "  hookmux go"}
	child := &cobra.Command{
		Use: "go [THING]", Short: "Go there", Run: func(*cobra.Command, []string) {},
		Long:    "First line.\n.so /etc/passwd\n'br\n\n  as it\\is\n\nback `here` …",
		Example: "  hookmux go --fast \"x y\"\n  .hidden",
	}
	child.Flags().BoolP("fast", "f", false, "be `quick`")
	child.Flags().String("mode", "slow", "which way")
	child.Flags().Bool("secret", false, "not shown")
	_ = child.Flags().MarkHidden("secret")
	root.AddCommand(child, &cobra.Command{Use: "hid", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

const manGolden = `.\" Written from the program's own help.
.TH "HOOKMUX\-GO" 1 "" "hookmux 1.2.3" "hookmux"
.nh
.ad l
.SH "NAME"
hookmux\-go \- Go there
.SH "SYNOPSIS"
.B "hookmux go [THING] [flags]"
.SH "DESCRIPTION"
.PP
First line.
\&.so /etc/passwd
\(aqbr
.PP
.RS 4
.nf
as it\eis
.fi
.RE
.PP
back \(gahere\(ga \[u2026]
.SH "OPTIONS"
.TP
.B "\-f, \-\-fast quick"
be quick
.TP
.B "\-\-mode string"
which way (default slow)
.SH "EXAMPLES"
.PP
.RS 4
.nf
hookmux go \-\-fast "x y"
\&.hidden
.fi
.RE
.SH "SEE ALSO"
.BR hookmux (1)
`

func TestPages(t *testing.T) {
	pages := Pages(tree(), "1.2.3")
	var names []string
	for _, p := range pages {
		names = append(names, p.Name)
		if p.Name == "hookmux-go.1" && string(p.Text) != manGolden {
			t.Errorf("got\n%s; want p.Name != \"hookmux-go.1\" or string(p.Text) == golden", p.Text)
		}
	}
	if got := strings.Join(names, " "); got != "hookmux-go.1 hookmux-hook.1 hookmux.1" {
		t.Errorf(`pages: %s, want "hookmux-go.1 hookmux-hook.1 hookmux.1"`, got)
	}
	again := Pages(tree(), "1.2.3")
	for i := range pages {
		if !bytes.Equal(pages[i].Text, again[i].Text) {
			t.Errorf("%s is another one the second time", pages[i].Name)
		}
	}
}

// TestRoffTakesThem has the real formatter read every page, with warnings on.
func TestRoffTakesThem(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	for _, p := range Pages(tree(), "1.2.3") {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = bytes.NewReader(p.Text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: error %v, out = %s; want no error and no out", p.Name, err, out)
		}
	}
}
