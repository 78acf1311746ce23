package notify

import (
	"context"
	"slices"
)

// devicesChannel notifies paired phones and browsers. It isn't a setting: a device is
// notified once it asked for it.
const devicesChannel = "devices"

// Devices are the paired phones and browsers.
type Devices interface {
	// CanPush reports whether any of them wants to be notified.
	CanPush() bool
	// IsVisible reports whether the page is being looked at on one that may answer.
	IsVisible() bool
	// Tell notifies them; a later notice with the same id replaces the one before.
	Tell(ctx context.Context, id, title, body string, urgent bool) error
	// Withdraw takes back a notice.
	Withdraw(ctx context.Context, id string) error
}

// SetDevices says which devices there are, before Run.
func (s *Service) SetDevices(d Devices) {
	s.devices = d
	l := newChannelQueue(devicesChannel, deviceNotice{d})
	l.isOver, l.report = s.isOver, s.reportResult
	s.queues[devicesChannel] = l
}

// readRules returns what the user chose, with the devices that want to be notified.
func (s *Service) readRules() rules {
	r := readRules(s.settings())
	if s.devices != nil && s.devices.CanPush() {
		chosen := r.channels
		r.channels = func(kind string) []string { return append(slices.Clone(chosen(kind)), devicesChannel) }
	}
	return r
}

// deviceNotice is the channel.
type deviceNotice struct{ devices Devices }

func (d deviceNotice) show(ctx context.Context, n *Notice) error {
	return d.devices.Tell(ctx, n.ID, n.Title, n.Body, n.Request != "")
}

func (d deviceNotice) withdraw(ctx context.Context, n *Notice) error {
	return d.devices.Withdraw(ctx, n.ID)
}

func (deviceNotice) replaces() {}
