package notify

import (
	"context"
	"slices"
)

// devicesChannel tells paired phones and browsers. It isn't a setting: a device is told
// once it asked for it.
const devicesChannel = "devices"

// Devices are the paired phones and browsers.
type Devices interface {
	// CanPush reports whether any of them wants to be told.
	CanPush() bool
	// IsVisible reports whether somebody looks at the page on one of them.
	IsVisible() bool
	// Tell tells them; a later notice with the same id replaces the one before.
	Tell(ctx context.Context, id, title, body string, urgent bool) error
	// Withdraw takes back what they were told.
	Withdraw(ctx context.Context, id string) error
}

// SetDevices says which devices there are, before Run.
func (s *Service) SetDevices(d Devices) {
	s.devices = d
	l := newChannelQueue(devicesChannel, deviceNotice{d})
	l.isOver, l.report = s.isOver, s.reportResult
	s.queues[devicesChannel] = l
}

// readRules returns what the user chose, with the devices that want to be told.
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
