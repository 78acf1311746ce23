package access

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

// oneRequest are approvals with one request that waits.
type oneRequest struct {
	Approvals
	over chan struct{}
}

func (o oneRequest) PIN() *ledger.PIN { return nil }

func (o oneRequest) FindWaiting(id string) (wire.InboxRequest, <-chan struct{}, bool) {
	return wire.InboxRequest{Agent: "claude", Tool: "Bash", Shown: "x\n  $ touch three.txt\n"}, o.over, id == "j2at"
}

// silentPerson reads the question and types nothing.
type silentPerson struct{ read chan string }

func (s silentPerson) AskCode(ctx context.Context, _ *authority.Verdict, a authority.Action) error {
	s.read <- a.Text
	<-ctx.Done()
	return ctx.Err()
}

func (s silentPerson) AskPIN(context.Context, *authority.Verdict, authority.Action, func(string) error) error {
	return os.ErrInvalid
}

// The question for a code names what is approved, and goes away when the request is
// answered elsewhere.
func TestQuestionOfAnAnsweredRequest(t *testing.T) {
	const me = 77
	table := proctest.New(proctest.Node{PID: 13, Name: "bash", User: 4242, Session: true, TTY: "/dev/pts/0",
		Below: []proctest.Node{{PID: 14, Name: "make", Group: true, Below: []proctest.Node{{PID: me, Name: "hookmux"}}}}})
	machine := authoritytest.Machine{Table: table}
	evaluator := &authority.Evaluator{Table: table, Source: machine, Rules: authority.Rules{UID: 4242, Sound: machine.Sound,
		Hookmux: machine.Hookmux}}
	request, person := oneRequest{over: make(chan struct{})}, silentPerson{make(chan string, 1)}
	s := &Service{Evaluator: evaluator, approvals: request, keeper: &terminal.Keeper{Evaluator: evaluator, Asker: person}}
	peer, params := proc.Cred{UID: 4242, PID: me}, []byte(`{"id":"j2at","choice":"once"}`)
	verdict := s.keeper.EvaluateSilently(peer, s.describeCall(wire.MethodInboxReply, wire.Decide, params))
	if verdict.Outcome != authority.NeedCode {
		t.Fatalf("an answer by make: got %v (%s), want a code", verdict.Outcome, verdict.Reason())
	}
	said := make(chan authority.Verdict)
	go func() { said <- s.AskUser(t.Context(), wire.MethodInboxReply, wire.Decide, params, peer, verdict) }()
	if got, want := <-person.read, "approve for claude: $ touch three.txt"; got != want {
		t.Errorf("the user reads %q, want %q", got, want)
	}
	close(request.over)
	if v := <-said; v.OK || !strings.Contains(v.Reason(), "answered elsewhere") {
		t.Errorf("got %v (%s), want that it was answered elsewhere", v.Outcome, v.Reason())
	}
}
