package usage

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

const million = 1_000_000

func TestPrices(t *testing.T) {
	p := BuiltinPrices()
	for _, one := range []struct {
		name string
		call Call
		want float64
	}{
		{"written to the cache", Call{Model: "claude-opus-4-6", Tokens: Tokens{CacheWrite: million}}, 6.25},
		{"written to the cache for an hour", Call{Model: "claude-opus-4-6", Tokens: Tokens{CacheWrite1h: million}}, 10},
		{"fast", Call{Model: "claude-opus-4-6", Tokens: Tokens{Input: million}, Fast: true}, 30},
		{"fast, another model", Call{Model: "claude-opus-4-8", Tokens: Tokens{Input: million}, Fast: true}, 10},
		{"the cache of a new model", Call{Model: "claude-fable-5-1", Tokens: Tokens{CacheRead: million}}, 0.25},
		{"a new model", Call{Model: "claude-opus-5-5", Tokens: Tokens{Input: million, Output: million}}, 24},
		{"below the tier", Call{Model: "claude-haiku-5-5", Tokens: Tokens{Input: 100_000, Output: 10}}, 0.010005},
		{"a long prompt, whole", Call{Model: "claude-haiku-5-5", Tokens: Tokens{Input: 100_001}}, 0.0500005},
		{"a long prompt, mostly cached", Call{Model: "claude-sonnet-4-5",
			Tokens: Tokens{Input: 100_000, CacheRead: 150_000}}, 0.6 + 0.09},
		{"a long prompt, all of it at the higher price", Call{Model: "claude-sonnet-4-5", Tokens: Tokens{Input: 300_000}}, 1.8},
		{"OpenAI", Call{Model: "gpt-5.5", Tokens: Tokens{Input: 100_000}}, 0.5},
		{"OpenAI, long", Call{Model: "gpt-5.5", Tokens: Tokens{Input: million}}, 10},
		{"what the agent wrote down wins", Call{Model: "claude-opus-4-6", Cost: 1.5, Tokens: Tokens{Input: million}}, 1.5},
		{"also for an unknown model", Call{Model: "nobody-knows", Cost: 1.5}, 1.5},
		{"a date behind it", Call{Model: "claude-sonnet-4-5-20250929", Tokens: Tokens{Input: 1000}}, 0.003},
		{"a provider in front", Call{Model: "anthropic/claude-sonnet-4-5", Tokens: Tokens{Input: 1000}}, 0.003},
		{"Bedrock", Call{Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", Tokens: Tokens{Input: 1000}}, 0.003},
		{"a note about the context", Call{Model: "claude-sonnet-4-5[1m]", Tokens: Tokens{Input: 1000}}, 0.003},
	} {
		if got, ok := p.Cost(&one.call); !ok || math.Abs(got-one.want) > 1e-9 {
			t.Errorf("%s: got %v %v, want %v", one.name, got, ok, one.want)
		}
	}
	for _, unknown := range []string{"", "nobody-knows", "claude-opus-9", "claude-opus-4-9", "gpt-5.9", "claude-opus-5-7", "gpt"} {
		if got, ok := p.Cost(&Call{Model: unknown, Tokens: Tokens{Input: million}}); ok {
			t.Errorf("%q has the price %v, want none", unknown, got)
		}
	}
}

func readPrices(dir string) (*Prices, error) {
	own, err := LoadPrices(dir)
	if err != nil {
		return nil, err
	}
	return ReadPrices(own)
}

func TestYourOwnPrices(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) (*Prices, error) {
		if err := os.WriteFile(filepath.Join(dir, PricesFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readPrices(dir)
	}
	if p, err := readPrices(dir); err != nil || p.Date == "" {
		t.Errorf("without a file: %v %v", p, err)
	}
	p, err := write("date: 2027-01-01\nprices:\n  - {models: [local-llm, gpt-5.5], input: 1, output: 2, cache_read: 0}\n")
	if err != nil || p.Date != "2027-01-01" {
		t.Fatal(p, err)
	}
	for model, want := range map[string]float64{"local-llm": 1, "gpt-5.5": 1, "gpt-5": 1.25} {
		if got, ok := p.Cost(&Call{Model: model, Tokens: Tokens{Input: million}}); !ok || got != want {
			t.Errorf("%s: got %v, want %v", model, got, want)
		}
	}
	if got, _ := p.Cost(&Call{Model: "local-llm", Tokens: Tokens{CacheRead: million}}); got != 0 {
		t.Errorf("a free cache costs %v", got)
	}
	for _, bad := range []string{"prices: [{models: [x], input: 0, output: 0}]", "prices: [{input: 1, output: 1}]", "price: 1", "["} {
		if p, err := write(bad); err == nil || p != BuiltinPrices() {
			t.Errorf("%q: want an error and the built-in table, got %v", bad, err)
		}
	}
}
