package approvals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// Notices is what notification channels see of approvals.
type Notices struct{ service *Service }

// NewNotices gives that view of a service.
func NewNotices(s *Service) Notices { return Notices{s} }

// Follow reports every request that waits and how it ends, without secrets, until ctx ends.
func (n Notices) Follow(ctx context.Context, each func(note string, item wire.InboxRequest)) {
	followRequests(ctx, n.service.queue, each)
}

// Viewers returns the processes that show requests to someone who may answer.
func (n Notices) Viewers() []int { return n.service.attendance.watchers.pids() }

// buttonName names who denies by a button: it may have been any program of the user.
const buttonName = "the button of a notification"

// DenyByButton says no to a request whose card was shown with a button. Any program
// of the user can press one, so that it says no and never yes.
func (n Notices) DenyByButton(id, sha256 string) error {
	s := n.service
	r, waits := s.queue.Request(id)
	if !waits {
		return nil
	}
	if r.Hash != sha256 {
		return errors.New("the request is another one by now")
	}
	p := wire.InboxReplyParams{ID: id, Choice: string(event.ChooseDeny)}
	said, _, bad := readAnswer(&r, &p)
	if bad != nil {
		return bad
	}
	if said.Verdict != event.Deny {
		return fmt.Errorf("a button cannot say %s", said.Verdict.Word())
	}
	said.By, said.At = buttonName, time.Now()
	if _, bad := s.deliver(id, said, nil); bad != nil {
		return bad
	}
	return nil
}
