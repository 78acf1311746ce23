package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// executeRun runs one run of one agent.
func executeRun(ctx context.Context, s *testbed.Setting, a checks.AgentRun, keep bool) *testbed.Evidence {
	began := time.Now()
	known, _ := agent.Builtin().Agent(s.Driver.Name)
	if why := a.WhyNotRun(known, s.Driver); why != "" {
		return &testbed.Evidence{Run: a.Name, Missing: why}
	}
	st, err := testbed.New(s, a.Name)
	if err != nil {
		return &testbed.Evidence{Run: a.Name, Err: err, Took: time.Since(began)}
	}
	defer func() {
		st.StopDaemon()
		if !keep {
			testbed.RemoveAll(st.Base)
		}
	}()
	err = a.Execute(ctx, st)
	var cannot testbed.CannotRun
	if errors.As(err, &cannot) {
		err = nil
	}
	e := st.CollectEvidence(err, began)
	e.Missing = string(cannot)
	e.Late = e.Took > s.Patience*6/10
	if keep {
		if kerr := e.WriteFiles(st); kerr != nil && e.Err == nil {
			e.Err = fmt.Errorf("the evidence cannot be kept: %w", kerr)
		}
	}
	return e
}
