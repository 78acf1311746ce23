package ownconfig

import (
	"strings"
	"testing"
)

func TestCommentsAreFound(t *testing.T) {
	for _, c := range []struct {
		text string
		hash bool
		want []string
	}{
		{`{"a": "x // y", /* b */ "c": "\" // d"} // e`, false, []string{"/* b */", "// e"}},
		{"a = \"x # y\" # b\nc = '# d' # e\nf = \"\"\"\n# g\n\"\"\" # h", true, []string{"# b", "# e", "# h"}},
		{"// open", false, []string{"// open"}}, {"/* open", false, []string{"/* open"}}, {`"open`, false, nil}, {"'open", true, nil},
	} {
		var got []string
		for _, at := range findComments([]byte(c.text), c.hash) {
			got = append(got, c.text[at[0]:at[1]])
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf(`%q: got %q, want strings.Join(got, "|") = strings.Join(c.want, "|")`, c.text, got)
		}
	}
}

// Secrets in a hook's command have no shape, but stand behind their name.
func TestSecretsInCommandsAreFound(t *testing.T) {
	word := "hunter2" + "plainword"
	for line, want := range map[string]string{
		"MYPASS=" + word + " notify; true":              "MYPASS=REDACTED notify; true",
		"curl -u me:" + word + " http://x":              "curl -u me:REDACTED http://x",
		"curl --user 'x' -ume:" + word + ";date":        "curl --user 'x' -ume:REDACTED;date",
		"push --token '" + word + "' --title=done":      "push --token REDACTED --title=done",
		`export SLACK_TOKEN="` + word + `"; say`:        "export SLACK_TOKEN=REDACTED; say",
		"sort -u a; date -u +%H:%M":                     "",
		"x --token $MY_TOKEN PASSWORD=\"$(pass show)\"": "",
		"x --bypass=" + word + " --compact":             "",
		"say 'done: token budget is fine'":              "",
	} {
		if want == "" {
			want = line
		}
		if got := withoutShellSecrets(line); got != want {
			t.Errorf("%q\n got %q\nwant %q", line, got, want)
		}
	}
}
