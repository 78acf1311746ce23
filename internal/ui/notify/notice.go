package notify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// Notice is sent to a channel. Its texts contain no secrets that can be recognised as such,
// and nothing that a terminal or a reader would not see.
type Notice struct {
	ID      string // of the request or the turn: one notice on the screen
	Kind    string
	Agent   string
	Session string
	Request string             // the request's id; "" for a turn
	Item    *wire.InboxRequest // the request, without secrets; nil for a turn
	SHA256  string             // of the request's card
	Project string
	Title   string
	Body    string
	Next    string // where to go, or how to answer
	CanDeny bool   // it can be denied here
	CanShow bool   // the agent's pane can be brought forward
	Time    time.Time
	Passing bool // it goes away by itself
	Again   bool // it was shown before: only what replaces it is shown
}

// The most of a text that a channel gets, in columns.
const (
	titleWidth = 80
	lineWidth  = 160
)

var askWords = map[string]string{
	"permission": "asks for permission",
	"question":   "asks you a question",
	"plan":       "wants you to review a plan",
	kindFinished: "finished",
	kindFailed:   "failed",
}

// requestNotice returns the notice for a request. With full it says what is asked, as the
// request's card does.
func requestNotice(item *wire.InboxRequest, agentTitle string, full bool) Notice {
	n := Notice{
		ID: item.ID, Kind: item.Kind, Agent: item.Agent, Session: item.Session, Request: item.ID, Item: item,
		SHA256:  item.SHA256,
		Project: projectName(item.Project, item.Cwd), Time: item.CreatedAt,
		CanDeny: item.Status == wire.InboxPending && item.Host == "" && slices.Contains(item.Choices, "deny"),
	}
	if item.Host != "" {
		agentTitle += " on " + item.Host
	}
	n.Title = clean(agentTitle+" "+askWords[item.Kind], titleWidth)
	body := n.Project
	if item.Tool != "" {
		body = strings.TrimSuffix(item.Tool+" in "+body, " in ")
	}
	if full {
		body = strings.TrimSuffix(item.About()+" ("+n.Project+")", " ()")
	}
	// With its id no two notices are alike: dunst makes one of those that are.
	n.Body = strings.TrimPrefix(clean(body, lineWidth)+" · "+clean(item.ID, 24), " · ")
	n.Next = jumpCommand(item.Session)
	if item.Status == wire.InboxPending {
		n.Next = "hookmux up, or in the agent's terminal"
	}
	if item.Pane != "" && item.Pane != "unknown" {
		n.Next += " (" + clean(item.Pane, 24) + ")"
	}
	return n
}

// newGroupNotice returns the notice for requests that are shown together.
func newGroupNotice(items []*wire.InboxRequest, title func(agent string) string) Notice {
	n := Notice{ID: groupID, Kind: kindSeveral, Next: "hookmux up"}
	var agents []string
	count := map[string]int{}
	for i, item := range items {
		if i == 0 {
			n.Time = item.CreatedAt
		}
		if count[item.Agent]++; count[item.Agent] == 1 {
			agents = append(agents, item.Agent)
		}
	}
	for i, agent := range agents {
		agents[i] = fmt.Sprintf("%s: %d", title(agent), count[agent])
	}
	n.Title = fmt.Sprintf("%d more requests wait for you", len(items))
	if len(items) == 1 {
		n.Title = "1 more request waits for you"
	}
	n.Body = clean(strings.Join(agents, ", "), lineWidth)
	return n
}

// turnNotice returns the notice for the end of a turn.
func turnNotice(id string, one *wire.Session, agentTitle string, full bool) Notice {
	n := Notice{
		ID: id, Kind: turnKind(one.Turn), Agent: one.Agent, Session: one.ID, Project: projectName("", one.Cwd),
		Time: *one.Turn.Ended, Passing: true, Next: jumpCommand(one.ID),
	}
	n.Title = clean(agentTitle+" "+askWords[n.Kind], titleWidth)
	spent := time.Duration(one.Turn.Seconds * float64(time.Second)).Round(time.Second)
	body := strings.TrimPrefix(fmt.Sprintf("%s, after %s", n.Project, spent), ", ")
	if said := one.Turn.Summary + one.Turn.Error; full && said != "" {
		body += ": " + said
	}
	n.Body = clean(body, lineWidth)
	return n
}

// gapNotice says that a session goes on without its hooks.
func gapNotice(one *wire.Session, agentTitle, since string, now time.Time) Notice {
	return Notice{
		ID: "gap-" + one.Agent + "-" + one.ID, Kind: kindFailed, Agent: one.Agent, Session: one.ID,
		Project: projectName("", one.Cwd), Time: now, Next: "hookmux doctor " + one.Agent,
		Title: clean(agentTitle+" works without hookmux", titleWidth),
		Body:  clean("none of its hooks arrived since "+since+": nothing guards it", lineWidth),
	}
}

func removedNotice(p *wire.Problem, now time.Time) Notice {
	return Notice{
		ID: p.Key, Kind: kindFailed, Agent: wire.OwnAgent, Time: now, Next: p.Fix,
		Title: clean("hookmux's hooks were removed", titleWidth), Body: clean(p.What, lineWidth),
	}
}

func deviceElsewhereNotice(device wire.WebDevice, now time.Time) Notice {
	return Notice{
		ID: "device-" + device.ID, Kind: kindFailed, Agent: wire.OwnAgent, Time: now,
		Title: clean("your device "+device.Name+" is used from somewhere new", titleWidth),
		Body:  clean(device.Browser+" at "+device.Address+"; if that isn't you, remove the device", lineWidth),
		Next:  "hookmux web devices remove " + device.ID,
	}
}

func budgetNotice(id string, blocks bool, words string, now time.Time) Notice {
	n := Notice{ID: "budget-" + id, Kind: kindBudget, Agent: wire.OwnAgent, Time: now, Body: clean(words, lineWidth),
		Title: clean("budget "+id+" warns you", titleWidth), Next: "hookmux usage budget list"}
	if blocks {
		n.Title = clean("budget "+id+" blocks calls now", titleWidth)
		n.Next = "hookmux usage budget lift " + shellquote.Argument(id)
	}
	return n
}

// jumpCommand returns the command that goes to a session. Users copy it into a shell, and an
// agent may give its session any name.
func jumpCommand(session string) string {
	return "hookmux jump " + shellquote.Argument(clean(wire.ShortID(session), 24))
}

func projectName(project, cwd string) string {
	for _, folder := range []string{project, cwd} {
		if folder != "" {
			return clean(filepath.Base(folder), 40)
		}
	}
	return ""
}

// clean returns one line without secrets and without anything unseen.
func clean(s string, width int) string {
	if len(s) > 8<<10 {
		s = s[:8<<10]
	}
	return termsafe.Line(redact.Text(s), width)
}

// isNews reports whether the notice says what happened: no answer can make it outdated.
func (n *Notice) isNews() bool {
	return n.Kind == kindFinished || n.Kind == kindFailed || n.Kind == kindBudget
}

// lines returns the body with what to do.
func (n *Notice) lines() string {
	return strings.TrimPrefix(strings.TrimSuffix(n.Body+"\n"+n.Next, "\n"), "\n")
}

// line returns the whole notice on one line.
func (n *Notice) line() string {
	parts := []string{n.Title}
	if n.Body != "" {
		parts = append(parts, n.Body)
	}
	return strings.Join(parts, ": ")
}
