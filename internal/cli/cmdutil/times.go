package cmdutil

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// Span reads a duration above zero that was typed for flag, or as an argument if flag is
// empty. examples are durations that fit.
func Span(flag, value, examples string) (time.Duration, error) {
	span, err := config.ParseSpan(value)
	if err != nil || span <= 0 {
		return 0, UsageError("%s%v", before(flag), config.BadSpan(value, examples))
	}
	return span, nil
}

// Moment reads a point in time that was typed for flag: a span ago, a day, or a full time. ""
// is the zero time.
func Moment(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	now := time.Now()
	if span, err := config.ParseSpan(value); err == nil && span >= 0 {
		return now.Add(-span), nil
	}
	if day, ok := Day(value, now); ok {
		return day, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, value, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, BadMoment(flag, value, "today, 1h, 2d, 2026-01-31 or 2026-01-31T12:00:00Z")
}

// Day reads today, yesterday or a date: the local midnight it begins at.
func Day(value string, now time.Time) (time.Time, bool) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch strings.ToLower(value) {
	case "today":
		return midnight, true
	case "yesterday":
		return midnight.AddDate(0, 0, -1), true
	}
	day, err := time.ParseInLocation(time.DateOnly, value, now.Location())
	return day, err == nil
}

// BadMoment says what's wrong with a point in time, and which one was probably meant.
func BadMoment(flag, value, examples string) error {
	text := strings.TrimSpace(strings.TrimSuffix(strings.ToLower(value), "ago"))
	if span := config.SpanMeant(text); span != "" {
		return UsageError("%s%q isn't a time; did you mean %s?", before(flag), value, span)
	}
	if _, err := time.ParseDuration(text + "s"); err == nil && len(text) < 5 {
		return UsageError("%s%v", before(flag), config.BadSpan(text, examples))
	}
	if meant := PeriodMeant(text); meant != "" {
		return UsageError("%s%q isn't a time; did you mean %s?", before(flag), value, meant)
	}
	return UsageError("%s%q isn't a time; write %s", before(flag), value, examples)
}

// periods has words for how long ago something began.
var periods = map[string]string{"today": "today", "yesterday": "yesterday", "hour": "1h", "day": "1d", "week": "7d", "fortnight": "14d",
	"month": "30d", "quarter": "90d", "year": "365d"}

var periodFront = regexp.MustCompile(`^(the|this|last|past|previous|since)[-_ ]*`)

// PeriodMeant returns how to write a period that was called "lastweek" or "7 days", or
// mistyped; "" if it is none.
func PeriodMeant(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	for front := periodFront.FindString(text); front != "" && front != text; front = periodFront.FindString(text) {
		text = text[len(front):]
	}
	if span, err := config.ParseSpan(text); err == nil && span > 0 {
		return text
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return text
	}
	if span := config.SpanMeant(text); span != "" {
		return span
	}
	if word := strings.TrimSuffix(text, "s"); periods[word] != "" {
		return periods[word]
	}
	return periods[similar.Nearest(text, slices.Sorted(maps.Keys(periods)))]
}

func before(flag string) string {
	if flag == "" {
		return ""
	}
	return flag + " "
}
