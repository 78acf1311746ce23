package agent

import "testing"

func TestInWords(t *testing.T) {
	for offer, want := range map[string]string{
		`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"rm:*"}],"behavior":"allow","destination":"localSettings"}`: `allow Bash(rm:*) in this project, for you`,
		`{"type":"addRules","destination":"session","rules":[{"toolName":"WebFetch"},{"toolName":"Read"}],"behavior":"allow"}`:    `allow WebFetch and Read in this session`,
		`{"type":"addDirectories","directories":["/home/user/project"],"destination":"session"}`:                                  `let it work in "/home/user/project" in this session`,
		`{"type":"setMode","mode":"acceptEdits","destination":"session"}`:                                                         `switch to the mode acceptEdits in this session`,
		`["git *","tee *"]`: `"git *", "tee *"`,
		`"rm *"`:            `"rm *"`,
		// What is not known whole stays as it is.
		`{"type":"setMode","mode":"acceptEdits","destination":"session","more":1}`:                       `{"type":"setMode","mode":"acceptEdits","destination":"session","more":1}`,
		`{"type":"setMode","mode":"x","destination":"session","rules":[{"toolName":"Bash"}]}`:            `{"type":"setMode","mode":"x","destination":"session","rules":[{"toolName":"Bash"}]}`,
		`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"somewhere"}`: `{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"somewhere"}`,
		`{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}`: `{"type":"removeRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}`,
		`{"rule":{"toolName":"Bash"}}`: `{"rule":{"toolName":"Bash"}}`,
		`[]`:                           `[]`,
	} {
		if got := OfferInWords([]byte(offer)); got != want {
			t.Errorf("InWords(%s)\n got %s\nwant %s", offer, got, want)
		}
	}
}
