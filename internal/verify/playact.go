package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/verify/checks"
	"github.com/hookmux/hookmux/internal/verify/stage"
)

// playAct runs one act of one agent.
func playAct(ctx context.Context, s *stage.Setting, a checks.Act, keep bool) *stage.Evidence {
	began := time.Now()
	known, _ := agent.Builtin().Agent(s.Driver.Name)
	if why := a.WhyNotPlayed(known, s.Driver); why != "" {
		return &stage.Evidence{Act: a.Name, Missing: why}
	}
	st, err := stage.New(s, a.Name)
	if err != nil {
		return &stage.Evidence{Act: a.Name, Err: err, Took: time.Since(began)}
	}
	defer func() {
		st.StopHub()
		if !keep {
			stage.RemoveAll(st.Base)
		}
	}()
	err = a.Play(ctx, st)
	var cannot stage.Unplayable
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
