package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// withoutPackage makes cobra's script for bash work without the package bash-completion,
// whose functions it calls. It follows that script.
const withoutPackage = `
__hookmux_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" cword=$COMP_CWORD
    words=("${COMP_WORDS[@]}")
}

__hookmux_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
    elif [[ $1 == -d ]]; then
        COMPREPLY+=($(compgen -d -- "$cur"))
    else
        COMPREPLY+=($(compgen -f -- "$cur"))
    fi
}
`

// replaceBashCompletion makes `completion bash` print a script that needs nothing
// but bash.
func replaceBashCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || bash.Name() != "bash" {
		return
	}
	completion := bash.Parent()
	completion.Short = "Print a script that completes hookmux's commands in your shell"
	completion.Long = "Prints a script for your shell that completes commands, flags, agents, guards, sessions and requests."
	completion.Example = "  source <(hookmux completion bash)   # in ~/.bashrc\n" +
		"  source <(hookmux completion zsh)    # in ~/.zshrc\n" +
		"  hookmux completion fish > ~/.config/fish/completions/hookmux.fish"
	for _, shell := range completion.Commands() {
		load := map[string]string{"bash": "source <(hookmux completion bash)   # in ~/.bashrc",
			"zsh":        "source <(hookmux completion zsh)   # in ~/.zshrc",
			"fish":       "hookmux completion fish > ~/.config/fish/completions/hookmux.fish",
			"powershell": "hookmux completion powershell | Out-String | Invoke-Expression"}[shell.Name()]
		shell.Short, shell.Long, shell.Example = "Print the script for "+shell.Name(), "", "  "+load
		if f := shell.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "leave out the descriptions"
		}
		shell.Args = cmdutil.ExactArgs()
	}
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		bare, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := root.GenBashCompletionV2(&script, !bare); err != nil {
			return err
		}
		_, err = io.WriteString(cmd.OutOrStdout(),
			strings.ReplaceAll(script.String(), "_filedir", "__hookmux_filedir")+withoutPackage)
		return err
	}
}
