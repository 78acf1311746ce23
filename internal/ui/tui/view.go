package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/hookmux/hookmux/internal/termsafe"
)

// frame draws a model: what stands on the screen, line by line.
type frame struct{ *Model }

// View draws the screen.
func (m *Model) View() tea.View {
	if !m.drawn.valid {
		m.drawn = drawnFrame{frame{m}.render(), true}
		m.noteDrawn()
	}
	v := tea.NewView(m.drawn.text)
	v.AltScreen, v.ReportFocus, v.MouseMode = true, true, tea.MouseModeCellMotion
	v.WindowTitle = frame{m}.windowTitle()
	return v
}

func (f frame) windowTitle() string {
	n := f.countWaiting()
	if n == 0 {
		return "hookmux"
	}
	return fmt.Sprintf("▲%d hookmux", n)
}

func (f frame) countWaiting() int { return f.list.counts[sectionWaiting] }

func (f frame) render() string {
	if f.width < 1 || f.height < 1 {
		return ""
	}
	lines := []string{f.headLine(), styleFaint.Render(strings.Repeat("─", f.width))}[:f.headHeight()]
	body := f.bodyHeight()
	switch {
	case f.mode == modeConfirm:
		lines = append(lines, fill(f.confirmLines(), body)...)
	case f.form != nil:
		head := []string{styleBold.Render(termsafe.Line(f.form.title, f.width)), ""}
		if body < 8 {
			head = nil
		}
		lines = append(lines, fill(append(head, f.form.visibleLines(f.width, body-len(head))...), body)...)
	case f.mode == modeBatch:
		p := page{body: f.batch.bodyFor(f.width)}
		lines = append(lines, p.visible(f.batch.scroll, body)...)
	case f.mode == modePage:
		p := page{head: f.reading.wrapped(f.width)}
		lines = append(lines, p.visible(f.reading.scroll, body)...)
	case len(f.list.rows) == 0:
		lines = append(lines, fill(wrapStyled(f.emptyLines(), f.width), body)...)
	default:
		lines = append(lines, f.bodyLines(body)...)
	}
	lines = append(lines, f.statusLine(), f.keyLine())
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], f.width, "…")
	}
	return strings.Join(lines[:min(len(lines), f.height)], "\n")
}

// headLine says at a glance how things stand.
func (f frame) headLine() string {
	counts := &f.list.counts
	parts := []string{styleBold.Render("hookmux")}
	if f.isOff() {
		parts = append(parts, styleFailed.Render(offText(f.info.Off, f.opts.Now())))
	}
	if f.isAway() {
		parts = append(parts, styleWaiting.Render("you are away"))
	}
	for _, s := range []section{sectionWaiting, sectionFailed, sectionRunning, sectionDone, sectionIdle} {
		if counts[s] > 0 {
			mark, style := s.sign()
			parts = append(parts, style.Render(fmt.Sprintf("%s %d %s", mark, counts[s], headWord(s, counts[s]))))
		}
	}
	if f.filter != "" {
		parts = append(parts, "filter: "+termsafe.Line(f.filter, 30))
	}
	return strings.Join(parts, "  ")
}

// headWord is what so many rows of a section do.
func headWord(s section, count int) string {
	if s == sectionWaiting && count == 1 {
		return "needs you"
	}
	return headWords[s]
}

var headWords = map[section]string{
	sectionWaiting: "need you", sectionFailed: "failed", sectionRunning: "running", sectionDone: "done",
	sectionIdle: "idle",
}

func (f frame) bodyLines(height int) []string {
	place := f.layout()
	list, detail := f.visibleList(place.list), f.page(place.detail.width).visible(f.scroll, place.detail.height)
	if place.list.height == 0 {
		return fill(detail, height)
	}
	if !place.side {
		rule := styleFaint.Render(strings.Repeat("─", f.width))
		return fill(append(append(list, rule), detail...), height)
	}
	out := make([]string, height)
	for i := range out {
		out[i] = padRight(list[i], place.list.width) + styleFaint.Render(" │ ") + detail[i]
	}
	return out
}

// confirmLines are the question of a confirmation, wrapped.
func (f frame) confirmLines() []string {
	out := append(indentWrapped("", f.confirm.question, f.width), "")
	for _, line := range f.confirm.about {
		out = append(out, wrapMarked("  "+line, f.width)...)
	}
	out = append(out, "")
	for _, line := range f.confirm.hints {
		out = append(out, indentWrapped("", line, f.width)...)
	}
	return out
}

func (f frame) emptyLines() []string {
	switch {
	case f.problem != "":
		return []string{"", "  " + termsafe.Line(f.problem, 0)}
	case f.filter != "":
		return []string{"", "  Nothing fits the filter " + termsafe.Line(f.filter, 60) + "; Esc takes it off."}
	}
	lines := []string{"", "  No agent works here now."}
	for _, l := range f.opts.Empty {
		lines = append(lines, "  "+l)
	}
	return lines
}

// statusLine is what happened last, what is wrong, or the text being typed.
func (f frame) statusLine() string {
	switch {
	case f.mode == modeTyping:
		return styleBold.Render(f.typing.label+": ") +
			f.typing.input.render(f.width-ansi.StringWidth(f.typing.label)-2)
	case f.problem != "":
		line := termsafe.Line(f.problem, 0)
		if f.status == silentText { // a key was pressed
			line = "nothing was decided: " + line
		}
		return styleFailed.Render("✗ " + line)
	case f.status != "":
		return f.status
	case f.ready != nil && !f.ready.Attached && f.ready.Why != "":
		return styleWaiting.Render("agents won't wait for you here: " + termsafe.Line(f.ready.Why, 0))
	case f.mode == modeBatch:
		return moreBelow(f.batch.hidden(f.Model))
	case f.mode == modePage:
		return moreBelow(max(0, len(f.reading.wrapped(f.width))-f.reading.scroll-f.bodyHeight()))
	case f.hiddenLines() > 0:
		return moreBelow(f.hiddenLines())
	case f.hasProblems():
		what := termsafe.Line(f.info.Problems[0].What, 0)
		if n := len(f.info.Problems); n > 1 {
			return styleWaiting.Render(fmt.Sprintf("! %d problems, p says what to do: %s", n, what))
		}
		return styleWaiting.Render("! p says what to do: " + what)
	case f.isOtherVersion(f.opts.Version):
		return styleWaiting.Render(fmt.Sprintf("the daemon is hookmux %s and this is %s; `hookmux daemon restart` starts "+
			"this one", termsafe.Line(f.info.Version, 20), termsafe.Line(f.opts.Version, 20)))
	}
	return ""
}

func moreBelow(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return styleWaiting.Render("1 more line below")
	}
	return styleWaiting.Render(fmt.Sprintf("%d more lines below", n))
}

// keyLine are the keys that do something now.
func (f frame) keyLine() string {
	switch f.mode {
	case modeTyping:
		return styleFaint.Render("Enter takes it · Esc leaves it")
	case modeConfirm:
		return ""
	case modeBatch:
		return f.joinKeys(append([]binding{{name: "B", does: "approve all of them"}},
			pageKeys(f.batch.hidden(f.Model) > 0, f.batch.scroll > 0, "leave it")...), "")
	case modePage:
		more := len(f.reading.wrapped(f.width)) > f.reading.scroll+f.bodyHeight()
		return f.joinKeys(pageKeys(more, f.reading.scroll > 0, "back"), "")
	case modeForm:
		return styleFaint.Render("1–9 choose · o own words · Tab next · Enter sends · Esc leaves it")
	}
	var shown []binding
	for _, b := range bindings() {
		if (!b.always || b.told != nil && b.told(f.Model)) && b.when(f.Model) && (!b.decides || f.problem == "") {
			shown = append(shown, b)
		}
	}
	return f.joinKeys(shown, styleBold.Render("?")+" keys")
}

// pageKeys are the keys of a text that is read.
func pageKeys(more, back bool, leave string) []binding {
	var keys []binding
	if more {
		keys = append(keys, binding{name: "Space", does: "more"})
	}
	if back {
		keys = append(keys, binding{name: "b", does: "page back"})
	}
	return append(keys, binding{name: "Esc", does: leave})
}

// joinKeys are as many keys as fit, and what stands at the end; the help has them all.
func (f frame) joinKeys(list []binding, last string) string {
	line := ""
	for _, b := range list {
		part := styleBold.Render(b.name) + " " + b.does + "  "
		if ansi.StringWidth(line+part+last) > f.width {
			break
		}
		line += part
	}
	return line + last
}

// helpLines are all keys, in two columns where they fit. A key that says several
// things, each where it applies, has one line.
func helpLines(width int) []string {
	var names []string
	does := map[string][]string{}
	for _, b := range bindings() {
		if does[b.name] == nil {
			names = append(names, b.name)
		}
		does[b.name] = append(does[b.name], b.does)
	}
	var entries []string
	for _, name := range names {
		entries = append(entries, "  "+padRight(name, 8)+strings.Join(does[name], " or "))
	}
	half := (len(entries) + 1) / 2
	if width < 80 {
		return entries
	}
	var out []string
	for i := range half {
		line := padRight(entries[i], 40)
		if i+half < len(entries) {
			line += entries[i+half]
		}
		out = append(out, line)
	}
	return out
}

func ageText(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < 10*time.Second:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds())/5*5) // a calm screen
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
