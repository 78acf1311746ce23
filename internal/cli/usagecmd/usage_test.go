package usagecmd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 18, 15, 0, 0, 0, time.Local)
	for value, want := range map[string]string{"all": "0001-01-01 00:00", "today": "2026-11-18 00:00", "7d": "2026-11-12 00:00",
		"1d": "2026-11-18 00:00", "2026-11-01": "2026-11-01 00:00"} {
		got, err := ParseSince(value, now)
		if err != nil || got.Format("2006-01-02 15:04") != want {
			t.Errorf("%s: got %v %v, want %s", value, got, err, want)
		}
	}
	for _, bad := range []string{"soon", "3h", "25h"} {
		if _, err := ParseSince(bad, now); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestEverythingFitsIntoEightyColumns(t *testing.T) {
	cost := 1234.567
	report := &wire.UsageReport{Prices: "2026-11-17", Unpriced: []string{"lab\x1b[31m-model"}}
	for day := 1; day < 20; day++ {
		row := wire.UsageRow{UsageGroup: wire.UsageGroup{Agent: "claude", Model: "claude-sonnet-4-5-20250929-with-a-long-name",
			Project: "/home/user/with/a/very/long/path/to/the/project/folder", Session: strings.Repeat("0123456789", 4),
			Day: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)},
			UsageTokens: wire.UsageTokens{Input: 123456789, Output: 99999, CacheRead: 1234567890123, CacheCreation: 5}, CostUSD: &cost}
		if day == 3 {
			row.CostUSD, row.UnpricedTokens, row.Model = nil, 9, "lab\x1b[31m-model"
		}
		report.Rows = append(report.Rows, row)
	}
	keep := func(s string) string { return s }
	now := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	for _, width := range []int{80, 120} {
		var overview, all, rows strings.Builder
		(&view{w: &overview, width: width, shorten: keep}).overview(report, "7d", now.AddDate(0, 0, -6), now)
		(&view{w: &all, width: width, shorten: keep}).overview(report, "all", time.Time{}, now)
		(&view{w: &rows, width: width, shorten: keep}).rows(report, wire.UsageGroups(), time.Time{})
		(&view{w: &rows, width: width, shorten: keep}).notes(report)
		for _, out := range []string{overview.String(), all.String(), rows.String()} {
			for line := range strings.Lines(out) {
				if w := termsafe.Width(strings.TrimRight(line, "\n")); w > width || strings.Contains(line, "\x1b") {
					t.Errorf("%d columns: %q", w, line)
				}
			}
		}
		for _, want := range []string{"no price", "█", "Tue 2026-11-03 ", "Thu 2026-11-12 "} {
			if !strings.Contains(all.String()+rows.String(), want) {
				t.Errorf("%q is missing in\n%s", want, all.String())
			}
		}
	}
}

// A day without usage has a line in the chart, and small amounts show beside large ones.
func TestChart(t *testing.T) {
	much, little := 100.0, 0.01
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	(&view{w: &out, width: 80}).chart([]wire.UsageRow{
		{UsageGroup: wire.UsageGroup{Day: "2026-11-15"}, UsageTokens: wire.UsageTokens{Input: 1}, CostUSD: &much},
		{UsageGroup: wire.UsageGroup{Day: "2026-11-17"}, UsageTokens: wire.UsageTokens{Input: 1}, CostUSD: &little},
		{UsageGroup: wire.UsageGroup{Day: "2026-11-17"}, UsageTokens: wire.UsageTokens{Input: 1}, UnpricedTokens: 1},
	}, now.AddDate(0, 0, -6), now)
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"", "Sun 2026-11-15 " + strings.Repeat("█", 54) + " $100.00", "Mon 2026-11-16 –", "Tue 2026-11-17 ▏ $0.01+", "Wed 2026-11-18 –"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStatusLine(t *testing.T) {
	s := readStatus([]byte(`{"session_id":"s","model":{"display_name":"Opus"},"cost":{"total_cost_usd":1.5},
		"context_window":{"context_window_size":200000,"used_percentage":25},
		"rate_limits":{"five_hour":{"used_percentage":41.5,"resets_at":1794711519}}}`))
	if len(s.params.Windows) != 1 || s.params.Windows[0].Used != 41.5 || s.params.Windows[0].Resets == nil ||
		s.params.Session != "s" || s.params.Context != 50000 {
		t.Errorf("%+v", s.params)
	}
	if got := s.line(); got != "Opus · $1.50 list price · context 75% left · 5h 42%" {
		t.Errorf("%q", got)
	}
	s = readStatus([]byte(`{"session_id":"s","model":{"display_name":"Opus"}}`))
	if got := s.line(); got != "Opus" { // what a line doesn't mention is unknown, not zero
		t.Errorf("%q", got)
	}
	for _, odd := range []string{"", "{", "null", `{"rate_limits":null}`, `{"rate_limits":{"five_hour":{"used_percentage":null}}}`} {
		if s := readStatus([]byte(odd)); len(s.params.Windows) != 0 {
			t.Errorf("%q has windows", odd)
		}
	}
}
