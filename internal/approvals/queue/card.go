package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// Show writes down exactly what you will see of a request, and its hash. Everything is
// there in full: what would run or be written, and whatever else the input says. sent is
// the event as the agent sent it, if hooks changed the input since.
func Show(r *Request, title string, sent *event.Event) {
	c := card{}
	c.addHead(r, title)
	switch r.Need.Kind {
	case policy.Question:
		c.addQuestions(r.Event.Questions)
	case policy.Plan:
		c.addText("", r.Event.Plan)
	}
	if t := r.Event.Tool; t != nil {
		c.addTool(r.Event, r.Need.Kind)
	} else if m := r.Event.Message; m != "" {
		c.addText("", m)
	}
	if sent != nil && sent.Tool != nil {
		c.addLine("hooks changed the input; the agent asked for:")
		c.addJSON("  ", sent.Tool.Input)
	}
	if r.Need.Unseen {
		c.addLine("%s", r.unseenWhy())
	}
	if r.Need.BlockOnly {
		c.addLine("%s can only be refused here; otherwise its own rules apply", title)
	}
	for i, s := range r.Suggestions {
		c.addLine("the agent's own suggestion %d: %s", i+1, agent.OfferInWords(s))
	}
	if slices.Contains(r.Need.Choices, event.ChooseAlways) && r.Rule != nil {
		c.addLine("always would allow: %s", r.Rule.Text())
	}
	r.Shown = termsafe.Text(c.b.String())
	sum := sha256.Sum256([]byte(r.Shown))
	r.Hash = hex.EncodeToString(sum[:])
}

// unseenWhy says why a yes isn't possible.
func (r *Request) unseenWhy() string {
	if kind, _ := policy.KindOf(r.Event); kind != policy.Plan || r.Event.Truncated {
		return "the agent sent only the beginning of the input: what a yes would mean can't be shown"
	}
	return "the agent sent its plan without any text: it can't be approved here; deny it, or read it in the agent's own terminal"
}

type card struct{ b strings.Builder }

// addLine writes one line; text of agents in it cannot begin another.
func (c *card) addLine(format string, args ...any) {
	c.b.WriteString(termsafe.Line(fmt.Sprintf(format, args...), 0))
	c.b.WriteByte('\n')
}

// addText writes text with each line behind a mark, so that none of it can be
// taken for a line of ours.
func (c *card) addText(mark, s string) {
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for line := range strings.SplitSeq(s, "\n") {
		c.b.WriteString(wire.CardIndent + mark + line + "\n")
	}
}

func (c *card) addJSON(indent string, value []byte) {
	var out bytes.Buffer
	if json.Indent(&out, value, indent, "  ") != nil {
		c.addText("", string(value))
		return
	}
	c.b.WriteString(indent + out.String() + "\n")
}

func (c *card) addHead(r *Request, title string) {
	ev := r.Event
	who := title
	if ev.Subagent != nil && ev.Subagent.Type != "" {
		who += " (" + ev.Subagent.Type + ")"
	}
	c.addLine("%s %s", who, wantsText(r))
	if folder := ev.Folder(); folder != "" {
		c.addLine("in %s", folder)
	}
	if r.Need.Asked != "" {
		c.addLine("%s wants you to look: %s", r.Need.Asked, r.Need.Why)
	}
}

// wantsText summarizes what is asked for.
func wantsText(r *Request) string {
	t := r.Event.Tool
	switch {
	case r.Need.Kind == policy.Question && r.Event.Detail != "" && t == nil:
		return "asks, for " + r.Event.Detail
	case r.Need.Kind == policy.Question:
		return "asks"
	case r.Need.Kind == policy.Plan:
		return "has a plan"
	case t == nil:
		return "wants to go on"
	case len(t.Commands) == 1:
		return "wants to run a command with " + t.Name
	case len(t.Commands) > 1:
		return fmt.Sprintf("wants to run %d commands with %s", len(t.Commands), t.Name)
	case t.Kind == event.FileWrite || t.Kind == event.FileEdit:
		return "wants to write with " + t.Name
	case t.MCP != nil && t.MCP.Server != "":
		return "wants to call " + t.MCP.Tool + " of the MCP server " + t.MCP.Server
	}
	return "wants to use " + t.Name
}

// addTool shows a call: the commands, files and texts in readable form, then every member
// of the input that wasn't shown whole.
func (c *card) addTool(ev *event.Event, kind policy.Kind) {
	t := ev.Tool
	input := t.CurrentInput()
	for _, command := range t.Commands {
		c.addText(wire.CardCommand, command)
	}
	for _, path := range t.Writes {
		c.addLine("file: %s", path)
	}
	if t.URL != "" {
		c.addLine("address: %s", t.URL)
	}
	if !jsontext.IsObject(input) {
		if len(input) > 0 && string(input) != "null" {
			c.addLine("input:")
			c.addJSON("  ", input)
		}
		return
	}
	shown := c.addChanges(input)
	var rest []string
	_ = jsontext.Object(input, func(key, value []byte) bool {
		name := string(key)
		text, isText := jsontext.String(value)
		switch {
		case slices.Contains(shown, name):
		case isText && (slices.Contains(t.Commands, text) || slices.Contains(t.Writes, text) || text == t.URL):
		case kind == policy.Plan && isText && text == ev.Plan:
		case kind == policy.Question && name == "questions" && len(ev.Questions) > 0:
		default:
			rest = append(rest, name)
		}
		return true
	})
	for _, name := range rest {
		c.addMember(name, jsontext.Get(input, name))
	}
}

// addChanges shows what is written or replaced as a readable change, and returns the
// members it showed whole.
func (c *card) addChanges(input []byte) []string {
	var shown []string
	if key, s, ok := textOf(input, "content", "file_text", "contents"); ok {
		c.addText(wire.CardAdded, s)
		shown = append(shown, key)
	}
	if key, s, ok := textOf(input, "diff", "patch"); ok {
		c.addText("", s)
		shown = append(shown, key)
	}
	before, old, hasOld := textOf(input, replaced...)
	after, fresh, hasNew := textOf(input, "new_string", "newString", "new_str", "newText")
	if hasOld && hasNew {
		c.addDiff(old, fresh)
		shown = append(shown, before, after)
	}
	return shown
}

// replaced are the names agents give the text that an edit replaces.
var replaced = []string{"old_string", "oldString", "old_str", "oldText"}

// textOf gives the first of several members that is a text.
func textOf(object []byte, keys ...string) (key, text string, ok bool) {
	for _, key := range keys {
		if s, ok := jsontext.String(jsontext.Get(object, key)); ok {
			return key, s, true
		}
	}
	return "", "", false
}

// maxEditedFile is the largest file in which [EditedLine] looks for a text.
const maxEditedFile = 2 << 20

// EditedLine returns the line of a file where the text that an edit replaces begins; 0 where
// that isn't known, or where the text is there more than once.
func EditedLine(ev *event.Event) int {
	t := ev.Tool
	if t == nil || len(t.Writes) != 1 || !filepath.IsAbs(t.Writes[0]) {
		return 0
	}
	_, old, ok := textOf(t.CurrentInput(), replaced...)
	if !ok || old == "" {
		return 0
	}
	content, err := files.Read(t.Writes[0], maxEditedFile)
	if err != nil || bytes.Count(content, []byte(old)) != 1 {
		return 0
	}
	return 1 + bytes.Count(content[:bytes.Index(content, []byte(old))], []byte("\n"))
}

// addDiff shows how a text changes, line by line and in full: lines that stay have no mark.
func (c *card) addDiff(old, fresh string) {
	split := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	}
	a, b := split(old), split(fresh)
	if slices.Equal(a, b) { // only the ends of lines differ
		c.addText(wire.CardRemoved, old)
		c.addText(wire.CardAdded, fresh)
		return
	}
	for _, line := range diffLines(a, b) {
		c.b.WriteString(wire.CardIndent + line + "\n")
	}
}

// addMember shows one member of the input in full. Its name comes from the agent too, and a
// model may choose it (MCP, unknown tools): behind a mark it can't pass for one of our
// lines, nor its text for a command.
func (c *card) addMember(name string, value []byte) {
	if s, ok := jsontext.String(value); ok {
		if !strings.Contains(s, "\n") {
			c.addLine("  · %s: %s", name, s)
			return
		}
		c.addLine("  · %s:", name)
		c.addText("  | ", s)
		return
	}
	if jsontext.IsObject(value) || jsontext.IsArray(value) {
		c.addLine("  · %s:", name)
		c.addJSON("    ", value)
		return
	}
	c.addLine("  · %s: %s", name, string(value))
}

func (c *card) addQuestions(list []event.Inquiry) {
	for i, q := range list {
		head := q.Text
		if q.Header != "" && q.Header != q.Text {
			head = q.Header + ": " + q.Text
		}
		var notes []string
		if q.Multi {
			notes = append(notes, "choose one or more")
		}
		if q.Optional {
			notes = append(notes, "optional")
		}
		if q.Free && len(q.Options) > 0 {
			notes = append(notes, "or type your own answer")
		}
		if len(notes) > 0 {
			head += " (" + strings.Join(notes, "; ") + ")"
		}
		if len(list) > 1 {
			c.addLine("%d. %s", i+1, head)
		} else {
			c.addLine("%s", head)
		}
		for n, o := range q.Options {
			if o.Description != "" {
				c.addLine("  %d) %s: %s", n+1, o.Label, o.Description)
			} else {
				c.addLine("  %d) %s", n+1, o.Label)
			}
		}
	}
}
