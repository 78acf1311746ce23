package text

import (
	"fmt"

	"github.com/hookmux/hookmux/internal/wire"
)

// UsedInWords returns what a session used, with what is left of its context.
func UsedInWords(u *wire.SessionUsage) string {
	if u == nil {
		return ""
	}
	words := wire.Count(u.Tokens) + " tokens"
	if u.CostUSD != nil {
		words = wire.Dollars(*u.CostUSD) + " · " + words
		if u.Plan {
			words = wire.Dollars(*u.CostUSD) + " list price · " + wire.Count(u.Tokens) + " tokens"
		}
	}
	if u.UnpricedTokens > 0 {
		words += " · " + wire.Count(u.UnpricedTokens) + " without a price"
	}
	if u.ContextLeft != nil {
		words += fmt.Sprintf(" · %.0f%% context left", *u.ContextLeft)
	}
	return words
}

// UsedInShort is UsedInWords in little room: the cost, else the tokens, and what is left
// of the context.
func UsedInShort(u *wire.SessionUsage) string {
	if u == nil {
		return ""
	}
	words := u.Short()
	if u.ContextLeft != nil {
		words += fmt.Sprintf(" · %.0f%% context left", *u.ContextLeft)
	}
	return words
}
