package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// switchOff asks for how long, and then the daemon: it has the user type a code.
func switchOff(m *Model) tea.Cmd {
	m.startTyping("Turn hookmux off", "For how long? 30m, 1h, 2d, or empty: until you turn it on. No guard or hook stops "+
		"anything until then; events are still recorded.", "1h", "turn off",
		func(m *Model, span string) tea.Cmd {
			var p wire.OffParams
			if span != "" {
				d, err := config.ParseSpan(span)
				if err != nil || d <= 0 {
					m.status = termsafe.Line(span, 40) + " isn't a time span like 30m or 1h; nothing was done."
					return nil
				}
				p.Seconds = d.Seconds()
			}
			return m.decideAtTerminal(func(ctx context.Context, _ string) (string, error) {
				var off wire.Off
				if err := m.opts.Daemon.Call(ctx, wire.MethodOff, p, &off); err != nil {
					return "", err
				}
				return "hookmux is " + offText(&off, m.opts.Now()) + "; events are still recorded.", nil
			})
		})
	return nil
}

func offText(off *wire.Off, now time.Time) string {
	if off.Until != nil {
		return "off until " + text.Moment(*off.Until, now)
	}
	return "off"
}

func switchOn(m *Model) tea.Cmd {
	return m.decide(func(ctx context.Context, _ string) (string, error) {
		var result struct{ WasOff bool }
		return "hookmux is on again.", m.opts.Daemon.Call(ctx, wire.MethodOn, nil, &result)
	})
}

func goAway(m *Model) tea.Cmd {
	return m.decide(func(ctx context.Context, _ string) (string, error) {
		return "", m.opts.Daemon.Away(ctx) // a bar says it
	})
}

// comeBack says what happened in the meantime.
func comeBack(m *Model) tea.Cmd {
	var digest *client.Digest
	cmd := m.decide(func(ctx context.Context, _ string) (string, error) {
		said, err := m.opts.Daemon.Back(ctx)
		if err == nil {
			digest = &said
		}
		return "You're back.", err
	})
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		said := cmd()
		if _, ok := said.(outcomeMsg); ok && digest != nil {
			return pageMsg{"While you were away", digestLines(digest, m.opts.Now())}
		}
		return said
	}
}

func digestLines(d *client.Digest, now time.Time) []string {
	var lines []string
	if d.WasAway && d.Since != nil {
		var parts []string
		for _, part := range []struct {
			n    uint64
			what string
		}{
			{uint64(len(d.Waiting)), "waiting"}, {uint64(len(d.Ended)), "closed"},
			{d.Permitted, "allowed by saved permissions"},
		} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprint(part.n, " ", part.what))
			}
		}
		if len(parts) == 0 {
			parts = []string{"no agent asked for anything"}
		}
		lines = append(lines, "Since "+text.Moment(*d.Since, now)+": "+strings.Join(parts, ", "))
	} else {
		lines = append(lines, "You weren't away.")
	}
	if d.Note != "" {
		lines = append(lines, termsafe.Line(d.Note, 0))
	}
	lines = append(lines, "")
	for i := range d.Ended {
		item := &d.Ended[i]
		lines = append(lines, "  "+termsafe.Line(item.Agent, 20)+"  "+commandOf(item.Shown)+"  "+
			text.Style{Color: true}.Ended(item))
	}
	for i := range d.LogOnly {
		one := &d.LogOnly[i]
		lines = append(lines, "  "+termsafe.Line(one.Agent+" "+one.Tool+"  "+text.Who(one.Hook), 120)+" "+
			text.WouldHave(&one.Would))
	}
	return lines
}

// wasStopped reports whether a guard stopped the selected session lately.
func wasStopped(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.isSession() && m.details.key == m.selected && m.details.timeline.rule != ""
}

// allowOnce lets the rule that stopped a session pass the next time. The daemon asks the user
// to type a code.
func allowOnce(m *Model) tea.Cmd {
	rule := m.details.timeline.rule
	if id, ok := strings.CutPrefix(rule, budget.RulePrefix); ok {
		return liftBudget(m, id)
	}
	m.openConfirm("G", "allow it once", confirmText{
		title:    "Allow once",
		question: "Let this through the next time it's tried, by any agent, within ten minutes?",
		about: []string{"rule     " + termsafe.Line(rule, 0),
			"stopped  " + termsafe.Line(m.details.timeline.stopped, 0)},
		hints: []string{"Press G again to allow it once, or Esc."},
	},
		func(m *Model) tea.Cmd {
			return m.decideAtTerminal(func(ctx context.Context, _ string) (string, error) {
				var said struct{ Text string }
				err := m.opts.Daemon.Call(ctx, wire.MethodAllow, wire.AllowParams{Rule: rule, Once: true}, &said)
				return termsafe.Line(said.Text, 0), err
			})
		})
	return nil
}

// liftBudget makes the budget that stopped a session stop nothing once.
func liftBudget(m *Model, id string) tea.Cmd {
	m.openConfirm("G", "lift it once", confirmText{
		title:    "Lift the budget",
		question: "Let this budget stop nothing until midnight, or for a session's budget in the next session it stops?",
		about: []string{"budget   " + termsafe.Line(id, 0),
			"stopped  " + termsafe.Line(m.details.timeline.stopped, 0)},
		hints: []string{"Press G again to lift it once, or Esc."},
	},
		func(m *Model) tea.Cmd {
			return m.decideAtTerminal(func(ctx context.Context, _ string) (string, error) {
				var lifted wire.Budget
				err := m.opts.Daemon.Call(ctx, wire.MethodBudgetLift, wire.BudgetParams{Budget: id}, &lifted)
				return "The budget " + termsafe.Line(id, 60) + " is lifted once.", err
			})
		})
	return nil
}

func canResume(m *Model) bool {
	r := m.selectedRow()
	return r != nil && r.isSession() && r.session.Ended != nil && r.session.Resumable && m.opts.Resume != nil
}

// resumeSession takes an ended session up again in a window of its own.
func resumeSession(m *Model) tea.Cmd {
	session := m.selectedRow().session
	return func() tea.Msg {
		said, err := m.opts.Resume(m.ctx, session)
		if err != nil {
			return outcomeMsg{text: errorText(err), aside: true}
		}
		return outcomeMsg{text: termsafe.Line(said, 0), aside: true}
	}
}
