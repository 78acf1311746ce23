package usagecmd

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// view prints reports on a terminal.
type view struct {
	w       io.Writer
	style   text.Style
	width   int
	shorten func(string) string
}

// noLimit is the width if there's no terminal: nothing is wrapped or cut.
const noLimit = 1 << 20

// sum adds up several rows.
type sum struct {
	name     string
	tokens   int64
	cost     float64
	unpriced int64
	today    *sum // the part of it
}

func (s *sum) add(r *wire.UsageRow) {
	s.tokens += r.Total()
	s.unpriced += r.UnpricedTokens
	if r.CostUSD != nil {
		s.cost += *r.CostUSD
	}
}

// costText returns an amount. A plus after it says that more was used, at no known price; all
// amounts have room for it.
func (s *sum) costText() string {
	switch {
	case s.tokens == 0 && s.cost == 0:
		return "– "
	case s.unpriced > 0 && s.cost == 0:
		return "no price "
	case s.unpriced > 0:
		return wire.Dollars(s.cost) + "+"
	}
	return wire.Dollars(s.cost) + " "
}

// sumBy adds rows up, the most expensive first.
func sumBy(rows []wire.UsageRow, today string, name func(*wire.UsageRow) string) []*sum {
	var list []*sum
	for i := range rows {
		key := name(&rows[i])
		at := slices.IndexFunc(list, func(s *sum) bool { return s.name == key })
		if at < 0 {
			at = len(list)
			list = append(list, &sum{name: key, today: &sum{}})
		}
		list[at].add(&rows[i])
		if rows[i].Day == today {
			list[at].today.add(&rows[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *sum) int {
		return cmp.Or(-cmp.Compare(a.cost, b.cost), -cmp.Compare(a.tokens, b.tokens), cmp.Compare(a.name, b.name))
	})
	return list
}

// maxShown is how many lines each part of the overview has.
const maxShown = 8

// overview prints today, a chart of the days, and who used it on what.
func (v *view) overview(report *wire.UsageReport, since string, from, now time.Time) {
	if len(report.Rows) == 0 {
		v.none(from)
		return
	}
	day := now.Format(time.DateOnly)
	all := sumBy(report.Rows, day, func(*wire.UsageRow) string { return "" })[0]
	title := sinceTitle(since, from)
	wide := max(len("today"), len(title))
	line := func(title string, s *sum) {
		fmt.Fprintf(v.w, "%s  %10s %8s tokens\n", pad(title, wide), s.costText(), wire.Count(s.tokens))
	}
	line("today", all.today)
	onlyToday := from.Format(time.DateOnly) == day
	if !onlyToday {
		line(title, all)
		v.chart(report.Rows, from, now)
	}
	for _, part := range []struct {
		group string
		name  func(*wire.UsageRow) string
	}{
		{wire.ByAgent, func(r *wire.UsageRow) string { return r.Agent }},
		{wire.ByModel, func(r *wire.UsageRow) string { return r.Model }},
		{wire.ByProject, func(r *wire.UsageRow) string { return v.shorten(cmp.Or(r.Project, "unknown")) }},
	} {
		room := min(46, v.width-34)
		before, cost := fmt.Sprintf("%10s ", "TODAY "), "TOTAL "
		if onlyToday {
			before, cost = "", "TODAY "
		}
		fmt.Fprintf(v.w, "\n%s %s%10s %8s\n", pad(strings.ToUpper(part.group), room), before, cost, "TOKENS")
		list := sumBy(report.Rows, day, part.name)
		for i, s := range list {
			if i == maxShown && len(list) > maxShown+1 {
				fmt.Fprintf(v.w, "… and %d more: hookmux usage --by %s\n", len(list)-i, part.group)
				break
			}
			if before != "" {
				before = fmt.Sprintf("%10s ", s.today.costText())
			}
			fmt.Fprintf(v.w, "%s %s%10s %8s\n", pad(s.name, room), before, s.costText(), wire.Count(s.tokens))
		}
	}
}

func (v *view) none(from time.Time) {
	words := ""
	if !from.IsZero() {
		words = " since " + from.Format(time.DateOnly)
	}
	fmt.Fprintf(v.w, "no usage on record%s\n", words)
}

// sinceTitle names the time since which usage is shown.
func sinceTitle(since string, from time.Time) string {
	switch {
	case from.IsZero():
		return "all time"
	case strings.HasSuffix(since, "d") && since != "1d":
		return strings.TrimSuffix(since, "d") + " days"
	}
	return "since " + from.Format(time.DateOnly)
}

// pad returns a name in exactly that many columns.
func pad(name string, width int) string {
	name = termsafe.Line(name, width)
	return name + strings.Repeat(" ", max(0, width-termsafe.Width(name)))
}

// chartDays is how many days a chart has at most.
const chartDays = 31

// chart draws a bar for each day: of its cost, or of its tokens if nothing has a price.
func (v *view) chart(rows []wire.UsageRow, from, now time.Time) {
	byDay := map[string]*sum{}
	for _, s := range sumBy(rows, "", func(r *wire.UsageRow) string { return r.Day }) {
		byDay[s.name] = s
	}
	var days []time.Time
	var most sum
	for day := now; len(days) < chartDays && !day.Before(from); day = day.AddDate(0, 0, -1) {
		days = append(days, day)
		if s := byDay[day.Format(time.DateOnly)]; s != nil {
			most.cost, most.tokens = max(most.cost, s.cost), max(most.tokens, s.tokens)
		}
	}
	for len(days) > 0 && byDay[days[len(days)-1].Format(time.DateOnly)] == nil {
		days = days[:len(days)-1] // before the first use
	}
	if len(days) < 2 {
		return
	}
	fmt.Fprintln(v.w)
	const dates, amount = len("Mon 2006-01-02 "), 11
	room := max(10, min(54, v.width-dates-amount))
	for _, day := range slices.Backward(days) {
		s := byDay[day.Format(time.DateOnly)]
		if s == nil {
			s = &sum{}
		}
		share := float64(s.tokens) / float64(max(1, most.tokens))
		if most.cost > 0 {
			share = s.cost / most.cost
		}
		fmt.Fprintf(v.w, "%s %s%s\n", day.Format("Mon 2006-01-02"), pad(bar(share, room), room),
			strings.TrimRight(fmt.Sprintf("%*s", amount, s.costText()), " "))
	}
}

// bar returns a bar in eighths of a column. Anything above zero shows.
func bar(share float64, room int) string {
	eighths := int(share*float64(room)*8 + 0.5)
	if share > 0 {
		eighths = max(1, eighths)
	}
	full := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		full += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return full
}

// leastName is how narrow the name of a model or project may become.
const leastName = 10

// rows prints a table with a line for each row. If it's too wide, days lose their year,
// tokens are one number instead of four, and at last names are cut.
func (v *view) rows(report *wire.UsageReport, by []string, from time.Time) {
	if len(report.Rows) == 0 {
		v.none(from)
		return
	}
	if slices.Contains(by, wire.BySession) && !slices.Contains(by, wire.ByAgent) {
		by = append([]string{wire.ByAgent}, by...) // a session's id is its agent's
	}
	for _, narrow := range []struct{ shortDays, oneNumber, cut bool }{{}, {shortDays: true}, {true, true, false}, {true, true, true}} {
		t := v.table(report, by, narrow.shortDays, narrow.oneNumber)
		if t.width() <= v.width || narrow.cut {
			t.cut(by, v.width)
			t.print(v.w)
			return
		}
	}
}

// table is a table of names, left, and numbers, right.
type table struct {
	names int // columns of names
	rows  [][]string
}

func (v *view) table(report *wire.UsageReport, by []string, shortDays, oneNumber bool) *table {
	t := &table{names: len(by)}
	numbers := func(n wire.UsageTokens, s sum) []string {
		if oneNumber {
			return []string{wire.Count(n.Total()), s.costText()}
		}
		return []string{wire.Count(n.Input), wire.Count(n.Output), wire.Count(n.CacheRead), wire.Count(n.CacheCreation), s.costText()}
	}
	titles := []string{"INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST "}
	if oneNumber {
		titles = []string{"TOKENS", "COST "}
	}
	var head []string
	for _, one := range by {
		head = append(head, strings.ToUpper(one))
	}
	t.rows = append(t.rows, append(head, titles...))
	for i := range report.Rows {
		r := &report.Rows[i]
		day := r.Day
		if shortDays && len(day) == len(time.DateOnly) {
			day = day[len("2006-"):]
		}
		var row []string
		for _, one := range by {
			value := map[string]string{wire.ByAgent: r.Agent, wire.ByModel: r.Model, wire.ByProject: v.shorten(r.Project),
				wire.BySession: wire.ShortID(r.Session), wire.ByDay: day}[one]
			row = append(row, termsafe.Line(cmp.Or(value, "unknown"), 60))
		}
		s := sum{}
		s.add(r)
		t.rows = append(t.rows, append(row, numbers(r.UsageTokens, s)...))
	}
	all := &report.Totals
	total := make([]string, len(by))
	total[0] = "total"
	t.rows = append(t.rows, append(total, numbers(all.UsageTokens,
		sum{tokens: all.Total(), cost: all.CostUSD, unpriced: all.UnpricedTokens})...))
	return t
}

func (t *table) widths() []int {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], termsafe.Width(cell))
		}
	}
	return widths
}

func (t *table) width() int {
	sum := -2 // between columns
	for _, w := range t.widths() {
		sum += w + 2
	}
	return sum
}

// cut shortens the widest of the models and projects until the table fits.
func (t *table) cut(by []string, width int) {
	for over := t.width() - width; over > 0; over = t.width() - width {
		widths, at := t.widths(), -1
		for i, one := range by {
			if (one == wire.ByModel || one == wire.ByProject) && widths[i] > leastName && (at < 0 || widths[i] > widths[at]) {
				at = i
			}
		}
		if at < 0 {
			return
		}
		to := widths[at] - 1
		for _, row := range t.rows {
			if by[at] == wire.ByProject && termsafe.Width(row[at]) > to {
				row[at] = "…" + string(filepath.Separator) + filepath.Base(row[at])
			}
			row[at] = termsafe.Line(row[at], to)
		}
	}
}

func (t *table) print(w io.Writer) {
	widths := t.widths()
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-termsafe.Width(cell))
			switch {
			case i < t.names:
				b.WriteString(cell + space + "  ")
			default:
				b.WriteString(space + cell + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// notes prints what's to know about the numbers.
func (v *view) notes(report *wire.UsageReport) {
	fmt.Fprintln(v.w)
	switch r := report.Reading; {
	case report.Problem != "":
		fmt.Fprintln(v.w, text.Wrap("Nothing is counted right now: "+termsafe.Line(report.Problem, 200)+"; see `hookmux status`.", v.width, 0))
	case r != nil && r.Files < r.Of:
		fmt.Fprintf(v.w, "Not complete yet: %d of %d files are read.\n", r.Files, r.Of)
	case r != nil:
		fmt.Fprintln(v.w, "Not complete yet: a large file is still being read.")
	}
	if len(report.Rows) == 0 {
		fmt.Fprintln(v.w, text.Wrap("hookmux reads what agents record themselves. `hookmux agents list` shows which are installed here.", v.width, 0))
		return
	}
	if len(report.Unpriced) > 0 {
		names := make([]string, len(report.Unpriced))
		for i, one := range report.Unpriced {
			names[i] = termsafe.Line(one, 60)
		}
		fmt.Fprintln(v.w, text.Wrap("+ No price, so not in dollars: "+strings.Join(names, ", "), v.width, 2))
	}
	prices := "List prices as of " + report.Prices
	if report.Prices == "" { // other machines have tables of their own
		prices = "List prices as each machine knows them"
	}
	fmt.Fprintln(v.w, prices+". With a subscription you don't pay them.")
}
