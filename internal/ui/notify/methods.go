package notify

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods returns what programs can ask about notices.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodNotifyStatus: {Run: s.statusMethod},
		wire.MethodNotifyTest:   {Run: s.testMethod},
	}
}

func (s *Service) statusMethod(json.RawMessage, proc.Cred) (any, *wire.Error) {
	r := s.readRules()
	info := wire.NotifyInfo{On: r.on, Channels: []wire.NotifyChannel{}, Quiet: r.isQuiet(s.now())}
	atOnce := s.pushesAtOnce()
	names := config.Channels
	if s.devices != nil && s.devices.CanPush() {
		names = append(slices.Clone(names), devicesChannel)
	}
	for _, name := range names {
		if name == config.PushChannel && atOnce {
			continue
		}
		kinds := []string{}
		for _, kind := range config.NoticeKinds {
			if slices.Contains(r.channels(kind), name) && slices.Contains(r.someKinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		state := s.queues[name].current()
		one := wire.NotifyChannel{Name: name, Kinds: kinds, Told: state.told, Failed: state.failed}
		if state.last != nil {
			one.Error = state.last.Error()
		}
		info.Channels = append(info.Channels, one)
	}
	if atOnce {
		info.Channels = append(info.Channels, wire.NotifyChannel{Name: config.NotifyCommand,
			Kinds: requestKinds})
	}
	return info, nil
}

// testMethod shows a made-up notice on every chosen channel, whether notices are switched on
// or not.
func (s *Service) testMethod(json.RawMessage, proc.Cred) (any, *wire.Error) {
	r := s.readRules()
	names := r.allChannels(config.NoticeKinds)
	if s.pushesAtOnce() && !slices.Contains(names, config.PushChannel) {
		names = append(names, config.NotifyCommand)
	}
	results := make([]wire.NotifyChannel, len(names))
	var trying sync.WaitGroup
	for i, name := range names {
		trying.Go(func() { results[i] = s.tryChannel(name, r.on) })
	}
	trying.Wait()
	return wire.NotifyInfo{On: r.on, Channels: results, Quiet: r.isQuiet(s.now())}, nil
}

// pushesAtOnce reports whether the user's own command is run for every request at once, and
// not by the rules of notices.
func (s *Service) pushesAtOnce() bool {
	return s.settings().Choice(config.NotifyCommand) != "" && !s.settings().PushesByNotices()
}

func (s *Service) tryChannel(name string, on bool) wire.NotifyChannel {
	if name == config.NotifyCommand { // which is reported by those who keep agents waiting for it
		out := s.tryChannel(config.PushChannel, false)
		out.Name = name
		return out
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	l := s.queues[name]
	const title, words = "hookmux can reach you", "This is how hookmux notifies you when an agent is waiting"
	now := time.Now()
	err := l.channel.show(ctx, &Notice{
		ID: "test", Kind: "permission", Agent: "hookmux", Title: title, Body: words, Time: now, Request: "test",
		Passing: true,
		Item: &wire.InboxRequest{ID: "test", Status: wire.InboxPending, Kind: "permission", Agent: "hookmux", CreatedAt: now,
			Choices: []string{}, Shown: title + "\n" + words},
	})
	out := wire.NotifyChannel{Name: name}
	if err != nil {
		out.Error, out.Absent = err.Error(), errors.Is(err, errAbsent)
	}
	if on {
		l.mu.Lock()
		l.state.last = err
		l.mu.Unlock()
		s.reportResult(name, err)
	}
	return out
}
