package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

// listedSettings is a daemon that only lists settings.
type listedSettings []wire.Setting

func (l listedSettings) Call(_ context.Context, _ string, _, result any) error {
	b, _ := json.Marshal(l)
	return json.Unmarshal(b, result)
}

// What somebody switched already, in whatever way, is not offered.
func TestOfferedGuards(t *testing.T) {
	daemon := listedSettings{{Key: "guard.destructive", Default: true}, {Key: "guard.secrets"},
		{Key: "guard.persistence", Default: true}, {Key: "guard.loop", Default: true}, {Key: "guard.infra", Default: true}}
	want := []string{"destructive", "persistence", "loop"}
	if got := guardsOff(t.Context(), daemon); !slices.Equal(got, want) {
		t.Errorf("offered %v, want %v", got, want)
	}
}

func TestAnswersToTheOffer(t *testing.T) {
	for answer, want := range map[string]bool{"\n": true, "y\n": true, "Yes\n": true, "n\n": false, "what\n": false, "": false} {
		if got := acceptsOffer(strings.NewReader(answer)); got != want {
			t.Errorf("%q: got %v, want %v", answer, got, want)
		}
	}
}
