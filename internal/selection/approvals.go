package selection

import (
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// ApprovalLevel returns which of an agent's calls become requests, as the setting says
// it, and whether you chose that. Of two projects' levels the tighter one applies.
func (r *Service) ApprovalLevel(ev *event.Event) (level string, chosen bool) {
	key := r.levelKey(ev.Agent)
	level = config.ApprovalLevels[0]
	tightest := -1
	for i, s := range r.viewOf(r.placesOf(ev)).settings {
		if s == nil {
			continue
		}
		e, _ := s.Get(key)
		word, _ := e.Value.(string)
		if rank := slices.Index(config.ApprovalLevels, word); i == 0 || rank > tightest {
			level, chosen, tightest = word, !e.Default, rank
		}
	}
	return level, chosen
}

// levelKey returns the setting that applies to an agent. There are as many as the
// catalogue has agents, and each is looked up at every call.
func (r *Service) levelKey(agent string) string {
	if key, ok := r.levelKeys.Load(agent); ok {
		return key.(string)
	}
	key := config.ApprovalsPolicy
	if _, ok := config.Find(config.ApprovalsPolicy + "." + agent); ok {
		key += "." + agent
	}
	if _, known := r.Catalogue.Agent(agent); known {
		r.levelKeys.Store(agent, key)
	}
	return key
}

// WaitTime returns how long an agent waits whose own prompt can't be used
// meanwhile, and whether the user chose that for this very agent.
func (r *Service) WaitTime(ev *event.Event) (waitFor time.Duration, chosen bool) {
	s := r.viewOf(r.placesOf(ev)).settings[0]
	if s == nil {
		return 2 * time.Minute, false
	}
	if key := config.InboxWait + "." + ev.Agent; s.IsSet(key) {
		return s.Span(key), true
	}
	return s.Span(config.InboxWait), false
}

// PushCommand returns the command that gets each request; "" if notices run it.
func (r *Service) PushCommand() string {
	settings := r.Config.Settings()
	if settings.PushesByNotices() {
		return ""
	}
	return settings.Choice(config.NotifyCommand)
}

// KeepOwnEvents returns how long the journal keeps events of hookmux itself.
func (r *Service) KeepOwnEvents() time.Duration { return r.Config.Settings().Keep("hookmux") }
