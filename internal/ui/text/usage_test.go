package text

import (
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

func TestUsedInWords(t *testing.T) {
	used := &wire.SessionUsage{CostUSD: new(0.44), Tokens: 83000, ContextLeft: new(92.0)}
	if got, want := UsedInWords(used), "$0.44 · 83.0k tokens · 92% context left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	used.Plan, used.UnpricedTokens = true, 2000
	if got, want := UsedInWords(used), "$0.44 list price · 83.0k tokens · 2.0k without a price · 92% context left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
