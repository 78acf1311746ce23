package answer

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent/offers"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// ApproveCommand is `hookmux approve`.
func ApproveCommand(app *cmdutil.App) *cobra.Command {
	var once, always, all, bypass, yes, asJSON bool
	var note, scope, lasts string
	var suggestion int
	cmd := &cobra.Command{
		Use:   "approve [ID]",
		Short: "Say yes to a request of an agent",
		Long: `Says yes to the request with this id (any unique beginning of it). Without an id, or
with part of a title, the request that has waited longest is shown in full and a
key is waited for. --always also
saves a saved permission: the rule is shown first and names exactly what it allows.
--all allows everything of the session. --bypass would switch the agent's own mode;
no agent known today lets a hook do that, so that it is refused unless an agent file
of yours offers it. A permission never beats a guard that denies.`,
		Example: "  hookmux approve kw4m\n  hookmux approve\n  hookmux approve kw4m --always --scope project --for " +
			"8h\n  hookmux approve kw4m --note 'run the tests afterwards'",
		Args: cmdutil.OptionalArg(),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, n := "once", 0
			for word, on := range map[string]bool{"once": once, "always": always || suggestion > 0, "all": all,
				"bypass": bypass} {
				if on {
					chosen, n = word, n+1
				}
			}
			if n > 1 {
				return cmdutil.UsageError("say one of --once, --always, --all, --bypass")
			}
			ch, err := chooseRequest(cmd.Context(), app, strings.Join(args, ""),
				func(r *client.Request) bool { return r.Kind != "question" && r.Kind != "plan" })
			if err != nil {
				return err
			}
			c, item := ch.client, ch.item
			reply := client.InboxReply{ID: item.ID, Choice: chosen, Note: note, Scope: scope, Suggestion: suggestion,
				SHA256: item.SHA256}
			if lasts != "" {
				span, err := config.ParseSpan(lasts)
				if err != nil || span <= 0 {
					return cmdutil.UsageError("--for %q is not a time span; write 30m, 8h or 7d", lasts)
				}
				reply.Seconds = span.Seconds()
			}
			if item.Status == wire.InboxPending {
				if err := ch.confirmApproval(app, &reply, yes, asJSON); err != nil {
					return err
				}
			}
			return sendReply(cmd.Context(), app, c, reply, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&once, "once", false, "this call only (the default)")
	f.BoolVar(&always, "always", false, "and save a permission for calls exactly like it")
	f.BoolVar(&all, "all", false, "and every further call of this session")
	f.BoolVar(&bypass, "bypass", false, "and switch the agent's own mode so that it no longer asks")
	f.IntVar(&suggestion, "suggestion", 0, "use the agent's own rule of this number instead of a permission")
	f.StringVar(&scope, "scope", "", "where a permission counts: session, project, everywhere (default: the project, "+
		"else the session)")
	f.StringVar(&lasts, "for", "", "how long a permission counts, e.g. 8h (default: until revoked; with --all 12h)")
	f.StringVar(&note, "note", "", "something to tell the agent with the yes")
	f.BoolVar(&yes, "yes", false, "save the rule that is shown without asking")
	f.BoolVar(&asJSON, "json", false, "for programs: {id, outcome: delivered|already|expired|unknown, by, permission?}")
	return cmd
}

// confirmApproval shows the request and has the person say yes, once: a yes that
// reaches further than this call is asked for by the daemon, with a code.
func (ch *chosen) confirmApproval(app *cmdutil.App, reply *client.InboxReply, yes, asJSON bool) error {
	lasting := describeLasting(&ch.item, reply)
	switch {
	case lasting == "":
		if !asJSON && ch.byID {
			ch.showCard(app)
		}
		return ch.confirmByKey(app, "approve", "Approve this?", yes)
	case yes && !ch.byID:
		return cmdutil.UsageError("--yes needs an id: `hookmux approve %s --yes`", ch.item.ID)
	case !yes && !app.IsTerminal():
		return cmdutil.UsageError("say --yes to confirm: %s", lasting)
	}
	if !asJSON {
		ch.showCard(app)
		app.Say("%s", lasting)
	}
	return nil
}

// describeLasting says what a yes allows beyond this call, "" for nothing.
func describeLasting(item *client.Request, reply *client.InboxReply) string {
	switch {
	case reply.Choice == "always" && reply.Suggestion > 0:
		if reply.Suggestion <= len(item.Suggestions) {
			return "use the agent's own rule: " +
				termsafe.Line(offers.InWords(item.Suggestions[reply.Suggestion-1]), 0)
		}
	case reply.Choice == "always" && item.Rule != "":
		reply.Rule = item.Rule
		return "always allow " + describeReach(item, reply) + ": " + termsafe.Line(item.Rule, 0)
	case reply.Choice == "all":
		return "allow every further call of this session" + describeDuration(reply, ", for 12 hours")
	case reply.Choice == "bypass":
		return "switch " + termsafe.Line(item.Agent, 0) + " so that it no longer asks"
	}
	return ""
}

// describeReach says where and how long a permission will count, as the daemon will save it.
func describeReach(item *client.Request, reply *client.InboxReply) string {
	who, scope := termsafe.Line(item.Agent, 0), reply.Scope
	if scope == "" && item.Project != "" {
		scope = "project"
	}
	var where string
	switch scope {
	case "project":
		where = who + " in " + termsafe.Line(item.Project, 0)
	case "everywhere":
		where = who + " everywhere"
	default:
		where = who + " in this session"
	}
	return where + describeDuration(reply, ", until revoked")
}

func describeDuration(reply *client.InboxReply, otherwise string) string {
	if reply.Seconds > 0 {
		return ", for " + (time.Duration(reply.Seconds) * time.Second).String()
	}
	return otherwise
}
