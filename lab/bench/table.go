//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// row is one measured value. Without a bar it is there to explain the others.
type row struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	Bar   float64 `json:"bar,omitempty"`
	Least bool    `json:"atLeast,omitempty"` // the bar is a lower bound
	OK    bool    `json:"ok"`
}

type table struct{ rows []row }

func (t *table) atMost(name string, value, bar float64, unit string) {
	t.rows = append(t.rows, row{Name: name, Value: value, Unit: unit, Bar: bar, OK: value <= bar})
}

func (t *table) atLeast(name string, value, bar float64, unit string) {
	t.rows = append(t.rows, row{Name: name, Value: value, Unit: unit, Bar: bar, Least: true, OK: value >= bar})
}

func (t *table) note(name string, value float64, unit string) {
	t.rows = append(t.rows, row{Name: name, Value: value, Unit: unit, OK: true})
}

func (t *table) missed() int {
	n := 0
	for _, r := range t.rows {
		if !r.OK {
			n++
		}
	}
	return n
}

func (t *table) print(w io.Writer) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range t.rows {
		bar, verdict := "", ""
		if r.Bar != 0 {
			sign := "≤"
			if r.Least {
				sign = "≥"
			}
			bar, verdict = sign+" "+number(r.Bar, r.Unit), "ok"
			if !r.OK {
				verdict = "MISSED"
			}
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", r.Name, number(r.Value, r.Unit), bar, verdict)
	}
	tab.Flush()
}

func number(v float64, unit string) string {
	switch {
	case unit == "×" || unit == "MB":
		return fmt.Sprintf("%.2f %s", v, unit)
	case v >= 100:
		return fmt.Sprintf("%.0f %s", v, unit)
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

func (t *table) printJSON(w io.Writer) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(struct { // a closed stdout can't be reported
		OK   bool  `json:"ok"`
		Rows []row `json:"rows"`
	}{t.missed() == 0, t.rows})
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// ratios divides round by round: what disturbs a round disturbs both sides.
func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
