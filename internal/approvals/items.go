package approvals

import (
	"encoding/json"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// mayAnswer reports whether the peer is somebody who could answer: a person
// sees everything they decide about; anybody else gets what the journal gets.
func (s *Service) mayAnswer(peer proc.Cred) bool {
	ok, _ := s.MayAnswer(peer)
	return ok
}

// ItemsFor gives the requests that wait, as the peer may see them; with all,
// also those that ended lately.
func (s *Service) ItemsFor(peer proc.Cred, all bool) []wire.FeedItem {
	items := s.queue.Items(all)
	if !s.mayAnswer(peer) {
		for i := range items {
			items[i] = withoutSecrets(items[i])
		}
	}
	return items
}

// PINSetting says whether approvals ask for a PIN.
func (s *Service) PINSetting(setting wire.Setting) wire.Setting {
	word := "off"
	if s.pin.Set() {
		word = "on"
		setting.Default, setting.Origin = false, "user"
	}
	setting.Value, _ = json.Marshal(word)
	return setting
}
