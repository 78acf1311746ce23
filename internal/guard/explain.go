package guard

import (
	"fmt"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// Explanation is how the guards see a command, for `hookmux guard explain`.
type Explanation struct {
	Command   string         `json:"command"`
	Error     string         `json:"error,omitempty"` // not valid shell: why
	TooLong   bool           `json:"tooLong,omitempty"`
	Truncated bool           `json:"truncated,omitempty"`
	Runs      []ExplainedRun `json:"runs"`
	Findings  []Finding      `json:"findings"`
	Messages  []string       `json:"messages"`
}

// ExplainedRun is one command that the line really runs.
type ExplainedRun struct {
	Program   string   `json:"program"`
	Argv      []string `json:"argv"`
	Via       []string `json:"via,omitempty"`     // wrappers, outermost first
	Dynamic   []string `json:"dynamic,omitempty"` // words only the running shell knows
	Redirects []string `json:"redirects,omitempty"`
	PipedFrom []string `json:"pipedFrom,omitempty"`
	Remote    bool     `json:"remote,omitempty"`
	Contained bool     `json:"contained,omitempty"`
}

// describeFinding says what a guard would object to, for somebody who asks.
func describeFinding(f Finding) string {
	return fmt.Sprintf("%s: %s [%s] (allow once: hookmux guard allow %s --once; always: hookmux guard allow %s)",
		f.Rule, f.Reason, f.Where, f.Rule, f.Rule)
}

// Explain reads cmd as the guards of set would in that call, and says what it
// runs and what they object to. call.Commands is not looked at.
func Explain(cmd string, call Call, set Set) Explanation {
	s := shell.Parse(cmd)
	e := Explanation{Command: cmd, TooLong: s.TooLong, Truncated: s.Truncated, Runs: []ExplainedRun{},
		Findings: []Finding{}, Messages: []string{}}
	if s.Err != nil {
		e.Error = s.Err.Error()
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		er := ExplainedRun{Program: r.Name(), Argv: []string{}, Via: r.Via, Remote: r.Remote, Contained: r.Contained}
		for _, a := range r.Argv {
			er.Argv = append(er.Argv, a.Text)
			if a.Dynamic {
				er.Dynamic = append(er.Dynamic, a.Text)
			}
		}
		for _, rd := range r.Redirects {
			er.Redirects = append(er.Redirects, rd.Op+rd.Target.Text)
		}
		for _, from := range inspect.RunsIn(&s, r.From) {
			er.PipedFrom = append(er.PipedFrom, from.Name())
		}
		e.Runs = append(e.Runs, er)
	}
	call.Commands = []string{cmd}
	call.Reads, call.Writes, call.Input = nil, nil, nil
	e.Findings = append(e.Findings, set.Check(call)...)
	for _, f := range e.Findings {
		e.Messages = append(e.Messages, describeFinding(f))
	}
	return e
}
