package agent

import "strings"

// ResumeSpec says how a session of an agent is resumed: which arguments do it, and which
// parts of the original command line are kept. It is data, so that the one sanitizer
// (internal/launch/resumeargs) knows no agent.
//
// [Launch.ValueFlags] says how many arguments a flag takes, for everything that reads the
// agent's command lines.
type ResumeSpec struct {
	Argv []string `yaml:"argv"` // {session} stands for the session's id
	Fork []string `yaml:"fork"` // the same for a copy of the session; empty: the agent makes none

	// Keyed says how the agent finds a session: by "directory", so that it must
	// be taken up where it was started, or by "id", so that it goes on where it
	// worked last.
	Keyed string `yaml:"keyed"`

	// Lead are leading words that only say "a session", or name an older one: each entry is a
	// row of words, of which a star may end one; "*?" is any word or none. They are removed.
	Lead [][]string `yaml:"lead"`
	// Not are first words that run something other than a session to come back to.
	Not []string `yaml:"not"`
	// Refuse are flags of runs that can't be resumed.
	Refuse []string `yaml:"refuse"`
	// Drop are flags that go, with their values: ids of older sessions, prompts,
	// credentials.
	Drop []string `yaml:"drop"`
	// PastWords says that flags may follow the prompt; else the first word ends
	// what is kept.
	PastWords bool `yaml:"past_words"`
	// KeepWord says that the first word is no prompt but belongs to the session,
	// such as a folder.
	KeepWord bool `yaml:"keep_word"`
	// Cwd are flags that name a directory; they go when it is the one the
	// session is taken up in anyhow.
	Cwd []string `yaml:"cwd"`

	// Modes are the arguments that restore the last permission mode, by its name; nothing is
	// added if one of ModeFlags is there already.
	Modes     map[string][]string `yaml:"modes"`
	ModeFlags []string            `yaml:"mode_flags"`
	// Add is put behind, unless an argument holds Unless.
	Add    []string `yaml:"add"`
	Unless string   `yaml:"unless"`

	// Env are the variables that come along: config homes and the like, never a
	// credential. A star ends a prefix.
	Env []string `yaml:"env"`
}

// SessionIn returns the id in a command line that takes a session up again, written
// exactly as Argv has it; "" for any other line.
func (r *ResumeSpec) SessionIn(line string) string {
	words := strings.Fields(line)
	if r == nil || len(words) != len(r.Argv) {
		return ""
	}
	id := ""
	for i, word := range r.Argv {
		before, after, named := strings.Cut(word, "{session}")
		rest, fits := strings.CutPrefix(words[i], before)
		if !fits || !named && rest != "" {
			return ""
		}
		if named {
			if id, fits = strings.CutSuffix(rest, after); !fits {
				return ""
			}
		}
	}
	return id
}
