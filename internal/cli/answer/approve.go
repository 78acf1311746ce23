package answer

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// approval holds the flags of `hookmux approve`.
type approval struct {
	always, session       bool
	autoEdit, reviewEdits bool
	yes, asJSON           bool
	text                  string
	note, scope, lasts    string
	suggestion            int
}

// ApproveCommand is `hookmux approve`.
func ApproveCommand(app *cmdutil.App) *cobra.Command {
	var a approval
	cmd := &cobra.Command{
		Use:   "approve [REQUEST] [ANSWER…]",
		Short: "Approve a request, answer a question, or accept a plan",
		Long: `Approves a permission request, answers a question, or accepts a plan. With no
REQUEST, shows the oldest pending one and asks.
` + requestNames + `

Answer a question with an option's name or number, or in your own words with
--text. If the agent asks several questions, say which one an answer is for:
1=Postgres 2=a 2=b.

--always also saves a permission for calls exactly like this one; you see the rule
first. --session approves everything else in this session. Neither overrides a
guard, rule or hook that denies.`,
		Example: `  hookmux approve
  hookmux approve kw4m
  hookmux approve kw4m --always --scope project --for 8h
  hookmux approve kw4m Postgres
  hookmux approve kw4m 1=2 2='own answer'
  hookmux approve kw4m --text 'neither, use files'
  hookmux approve kw4m --auto-edit`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.check(); err != nil {
				return err
			}
			name := ""
			if len(args) > 0 {
				name, args = args[0], args[1:]
			}
			ch, err := chooseRequest(cmd.Context(), app, name, a.fits)
			if err != nil {
				return err
			}
			choice := ""
			if a.session {
				choice = "all"
			}
			if err := ch.answerable(choice); err != nil {
				return err
			}
			reply, err := a.replyTo(app, ch, args)
			if err != nil {
				return err
			}
			return sendReply(cmd.Context(), app, ch.client, reply, a.asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&a.always, "always", false, "also save a permission for calls exactly like this one")
	f.BoolVar(&a.session, "session", false, "also approve everything else in this session")
	f.IntVar(&a.suggestion, "suggestion", 0, "use the agent's own suggested rule with this number")
	f.StringVar(&a.scope, "scope", "", "where the permission applies: session, project or everywhere (default: the "+
		"project, or the session outside of one)")
	f.StringVar(&a.lasts, "for", "", "how long the permission lasts, such as 8h (default: until you remove it; with "+
		"--session 12h)")
	f.StringVar(&a.note, "note", "", "a note for the agent")
	f.StringVar(&a.text, "text", "", "your own answer to a question")
	f.BoolVar(&a.autoEdit, "auto-edit", false, "accept the plan and let the agent edit without asking")
	f.BoolVar(&a.reviewEdits, "review-edits", false, "accept the plan and have the agent ask about each edit")
	f.BoolVarP(&a.yes, "yes", "y", false, "don't ask first (--always and --session still take a code)")
	f.BoolVar(&a.asJSON, "json", false, "print JSON: {id, outcome: delivered|already|expired|unknown, by, permission?}")
	return cmd
}

// check rejects flags that contradict each other or have impossible values.
func (a *approval) check() error {
	n := 0
	for _, on := range []bool{a.always || a.suggestion > 0, a.session, a.text != "", a.autoEdit, a.reviewEdits} {
		if on {
			n++
		}
	}
	if n > 1 {
		return cmdutil.UsageError("use only one of --always, --session, --suggestion, --text, --auto-edit and " +
			"--review-edits")
	}
	if (a.lasts != "" || a.scope != "") && !a.always && !a.session && a.suggestion == 0 {
		return cmdutil.UsageError("%s needs --always or --session", map[bool]string{true: "--for", false: "--scope"}[a.lasts != ""])
	}
	if a.scope != "" {
		if err := cmdutil.CheckChoice("scope", a.scope, "session", "project", "everywhere"); err != nil {
			return err
		}
	}
	if a.lasts != "" {
		if _, err := cmdutil.Span("--for", a.lasts, "30m, 8h or 7d"); err != nil {
			return err
		}
	}
	return nil
}

// kind returns the kind of request that the flags are about; "" for any.
func (a *approval) kind() string {
	switch {
	case a.text != "":
		return "question"
	case a.autoEdit || a.reviewEdits:
		return "plan"
	case a.always || a.session || a.suggestion > 0 || a.scope != "" || a.lasts != "":
		return "permission"
	}
	return ""
}

// whatFor says which kind of request the flags are for.
func (a *approval) whatFor() string {
	switch {
	case a.autoEdit:
		return "--auto-edit is for plans"
	case a.reviewEdits:
		return "--review-edits is for plans"
	}
	return "the flags are for " + kindNames[a.kind()]
}

// fits reports whether the flags can be about a request.
func (a *approval) fits(r *client.Request) bool { return a.kind() == "" || a.kind() == kindOf(r) }

// kindOf returns a request's kind. Whatever is neither a question nor a plan asks for
// permission.
func kindOf(r *client.Request) string {
	if r.Kind == "question" || r.Kind == "plan" {
		return r.Kind
	}
	return "permission"
}

// replyTo returns the answer to a request, confirmed at the terminal if that's needed.
func (a *approval) replyTo(app *cmdutil.App, ch *chosen, answers []string) (client.InboxReply, error) {
	item := &ch.item
	reply := client.InboxReply{ID: item.ID, Choice: "once", Note: a.note, SHA256: item.SHA256}
	if item.Status != wire.InboxPending {
		return reply, nil // it's too late, and the daemon says why
	}
	kind := kindOf(item)
	if a.kind() != "" && a.kind() != kind {
		return reply, cmdutil.UsageError("%s is %s, and %s; `hookmux inbox` shows how to answer it",
			item.ID, kindNames[kind], a.whatFor())
	}
	if len(answers) > 0 && kind != "question" {
		return reply, cmdutil.UsageError("%s is %s and takes no answer: `hookmux approve %s` or `hookmux deny %s REASON`",
			item.ID, kindNames[kind], item.ID, item.ID)
	}
	switch kind {
	case "question":
		err := a.answerQuestion(app, ch, answers, &reply)
		return reply, err
	case "plan":
		reply.Choice, reply.Plan, reply.Feedback, reply.Note = "plan", a.planMode(), a.note, ""
		if !slices.Contains(item.Choices, reply.Plan) {
			return reply, cmdutil.UsageError("%s can't do that with a plan; `hookmux inbox` shows how to answer it",
				termsafe.Line(item.Agent, 0))
		}
		return reply, ch.confirmByKey(app, "approve", "Accept this plan?", a.yes)
	}
	switch {
	case a.always || a.suggestion > 0:
		reply.Choice = "always"
	case a.session:
		reply.Choice = "all"
	}
	reply.Scope, reply.Suggestion = a.scope, a.suggestion
	if a.lasts != "" {
		span, err := config.ParseSpan(a.lasts)
		if err != nil {
			return reply, err
		}
		reply.Seconds = span.Seconds()
	}
	err := ch.confirmApproval(app, &reply, a.yes, a.asJSON)
	return reply, err
}

// kindNames are the kinds of requests in a sentence.
var kindNames = map[string]string{"question": "a question", "plan": "a plan", "permission": "a permission request"}

// planMode returns how a plan is accepted.
func (a *approval) planMode() string {
	switch {
	case a.autoEdit:
		return "auto"
	case a.reviewEdits:
		return "manual"
	}
	return "accept"
}

// answerQuestion fills in the answer to a question: from the command line, or by a key.
func (a *approval) answerQuestion(app *cmdutil.App, ch *chosen, answers []string, reply *client.InboxReply) error {
	var err error
	if len(answers) == 0 && a.text == "" {
		if ch.byID && !app.IsTerminal() && asksForYes(&ch.item) {
			return nil // to approve it is to say yes, which the daemon fills in
		}
		if answers, err = ch.readOption(app); err != nil {
			return err
		}
	} else if err := ch.confirmByKey(app, "approve", "Send this answer?", a.yes); err != nil {
		return err
	}
	reply.Choice = "answer"
	reply.Answers, err = answersOf(ch.item.Questions, answers, a.text)
	return err
}

// asksForYes reports whether a hook asks for nothing but a yes or a no.
func asksForYes(item *client.Request) bool {
	if item.AskedBy == "" || len(item.Questions) != 1 {
		return false
	}
	options := item.Questions[0].Options
	return len(options) == 2 && options[0].Label == "yes" && options[1].Label == "no"
}

// confirmApproval shows the request and asks for a yes, once: what reaches further than
// this call is confirmed with the daemon's code.
func (ch *chosen) confirmApproval(app *cmdutil.App, reply *client.InboxReply, yes, asJSON bool) error {
	lasting := describeLasting(&ch.item, reply)
	switch {
	case lasting == "":
		if !asJSON && ch.byID {
			ch.showCard(app)
		}
		return ch.confirmByKey(app, "approve", "Approve this?", yes)
	case yes && !ch.byID:
		return cmdutil.UsageError("--yes needs a request: `hookmux approve %s --yes`", ch.item.ID)
	case !yes && !app.IsTerminal():
		return cmdutil.UsageError("confirm with --yes: %s", lasting)
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
				termsafe.Line(agent.OfferInWords(item.Suggestions[reply.Suggestion-1]), 0)
		}
	case reply.Choice == "always" && item.Rule != "":
		reply.Rule = item.Rule
		return "always allow " + describeReach(item, reply) + ": " + termsafe.Line(item.Rule, 0)
	case reply.Choice == "all":
		return "allow everything else in this session" + describeDuration(reply, ", for 12 hours")
	}
	return ""
}

// describeReach says where and how long a permission will apply, as the daemon will save it.
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
	return where + describeDuration(reply, ", until you remove it")
}

func describeDuration(reply *client.InboxReply, otherwise string) string {
	if reply.Seconds > 0 {
		return ", for " + config.Format(time.Duration(reply.Seconds)*time.Second)
	}
	return otherwise
}
