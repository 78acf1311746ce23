package ahp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Expected is what an answer must fit to count.
type Expected struct {
	ID      string
	Version string
	Offer   Offer
}

// VersionError is a backend's word that it does not speak a version.
type VersionError struct{ Version string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("does not speak the version %q of the Agent Hooks Protocol; hookmux speaks %s", e.Version,
		strings.Join(hook.AHPVersions(), " and "))
}

// BackendError is a backend's word that it cannot answer. It speaks the protocol.
type BackendError struct {
	Code int
	Text string
}

func (e *BackendError) Error() string {
	return fmt.Sprintf("answered with the error %d: %s", e.Code, e.Text)
}

// SpeaksProtocol reports whether a failure was said in the protocol's own words: whoever
// said it can be asked again.
func SpeaksProtocol(failure error) bool {
	var version *VersionError
	var backend *BackendError
	return errors.As(failure, &version) || errors.As(failure, &backend)
}

// ReadAnswer reads a backend's answer. Silence is no opinion, and never a yes.
// Whatever does not fit is a failure as a whole: it may have been meant as a deny.
func ReadAnswer(message []byte, want Expected) (event.Decision, error) {
	m, err := members(message)
	if err != nil {
		return event.Decision{}, fmt.Errorf("wrote what is no message: %w", err)
	}
	if err := checkEnvelope(m); err != nil {
		return event.Decision{}, fmt.Errorf("wrote what is no message: %w", err)
	}
	if id, ok := jsontext.String(m["id"]); !ok || id != want.ID {
		return event.Decision{}, fmt.Errorf("answered %s, which nobody asked; the question's id is %q",
			termsafe.CutMarked(string(m["id"]), 80), want.ID)
	}
	_, failed := m["error"]
	result, there := m["result"]
	switch {
	case failed && there:
		return event.Decision{}, errors.New("answered with a result and an error at once")
	case failed:
		return event.Decision{}, readError(m, want.Version)
	case !there || !jsontext.IsObject(result):
		return event.Decision{}, errors.New("answered without a result")
	}
	r, err := members(result)
	if err != nil {
		return event.Decision{}, fmt.Errorf("answered with a result that %w", err)
	}
	if version, ok := jsontext.String(r["protocolVersion"]); !ok || version != want.Version {
		return event.Decision{}, fmt.Errorf("answered in the version %s where it was asked in %q; set ahp.version to "+
			"what it speaks", termsafe.CutMarked(string(r["protocolVersion"]), 40), want.Version)
	}
	if !jsontext.IsArray(r["effects"]) {
		return event.Decision{}, errors.New("answered without a list of effects; an empty one means no opinion")
	}
	return readEffects(r["effects"], want)
}

func readError(m map[string]json.RawMessage, version string) error {
	e, err := objectOf(m, "error")
	if err != nil || e == nil {
		return errors.New("answered with an error that cannot be read")
	}
	var code int
	if json.Unmarshal(e["code"], &code) != nil {
		return errors.New("answered with an error without a code")
	}
	if code == CodeUnsupportedVersion {
		return &VersionError{version}
	}
	text, _ := textOf(e, "message")
	return &BackendError{code, termsafe.CutMarked(strings.Join(strings.Fields(text), " "), 200)}
}

// readEffects makes one decision of all effects, or none where one of them cannot
// count.
func readEffects(list []byte, want Expected) (event.Decision, error) {
	var d event.Decision
	var bad error
	said, count := "", 0
	err := jsontext.Array(list, func(value []byte) bool {
		count++
		var e map[string]json.RawMessage
		if !jsontext.IsObject(value) {
			bad = errors.New("an effect is no object")
		} else if e, bad = members(value); bad == nil {
			bad = readEffect(e, want, &d, &said)
		}
		if bad == nil && want.Version == hook.AHPVersion01 && count > 1 {
			bad = errors.New("more than one effect, which the version 0.1 does not know")
		}
		return bad == nil
	})
	if bad == nil {
		bad = err
	}
	if bad != nil {
		return event.Decision{}, fmt.Errorf("answered with effects that do not count: %w", bad)
	}
	if d.Verdict == event.Deny {
		d.Input = nil
	}
	return d.Normalized(), nil
}

func readEffect(e map[string]json.RawMessage, want Expected, d *event.Decision, said *string) error {
	kind, err := textOf(e, "type")
	if err != nil {
		return err
	}
	offered := map[string]bool{"deny": want.Offer.Deny, "allow": want.Offer.Allow, "ask": want.Offer.Ask,
		"modify": want.Offer.Input, "message": want.Offer.Message, "inject": want.Offer.Context,
		"flow": want.Offer.Keep}
	if !offered[kind] {
		return fmt.Errorf("the effect %q was not offered for this event", termsafe.CutMarked(kind, 40))
	}
	switch kind {
	case "deny", "allow", "ask":
		if *said == kind {
			return nil // said twice it is said
		}
		if *said != "" {
			return fmt.Errorf("%s beside %s", kind, *said)
		}
		*said = kind
		return readVerdict(kind, e, d)
	case "modify":
		return readChange(e, d)
	case "message":
		text, err := textOf(e, "text")
		d.Notice = joinLines(d.Notice, text)
		return err
	case "inject":
		return readContext(e, d)
	}
	return readFlow(e, d)
}

func readVerdict(kind string, e map[string]json.RawMessage, d *event.Decision) error {
	switch kind {
	case "allow":
		d.Verdict = event.Allow
	case "ask":
		d.Verdict, d.Reason = event.Ask, "the policy backend wants the user to decide"
	default:
		reason, err := textOf(e, "reason")
		if err != nil {
			return err
		}
		if strings.TrimSpace(reason) == "" {
			return errors.New("a deny without a reason")
		}
		d.Verdict, d.Reason = event.Deny, reason
		if code, err := textOf(e, "code"); err != nil {
			return err
		} else if code != "" {
			d.Reason += " [" + termsafe.CutMarked(code, 120) + "]"
		}
	}
	return nil
}

func readChange(e map[string]json.RawMessage, d *event.Decision) error {
	target, err := textOf(e, "target")
	if err != nil {
		return err
	}
	operation, err := textOf(e, "operation")
	if err != nil {
		return err
	}
	switch {
	case target != "input" || operation != "merge":
		return fmt.Errorf("modify of %q by %q was not offered; input by merge was", termsafe.CutMarked(target, 40),
			termsafe.CutMarked(operation, 40))
	case !jsontext.IsObject(e["value"]):
		return errors.New("modify: value is no object with the keys to change")
	}
	d.Input = event.MergeObjects(d.Input, e["value"])
	return nil
}

func readContext(e map[string]json.RawMessage, d *event.Decision) error {
	for name, want := range map[string]string{"target": "context", "operation": "append", "deliverAt": "now"} {
		if value, err := textOf(e, name); err != nil || value != want {
			return fmt.Errorf("inject: %s was offered as %q only", name, want)
		}
	}
	text, ok := contentText(e["value"], 4)
	if !ok {
		return errors.New("inject: value holds no text")
	}
	d.Context = joinLines(d.Context, text)
	return nil
}

func readFlow(e map[string]json.RawMessage, d *event.Decision) error {
	if operation, err := textOf(e, "operation"); err != nil || operation != "continue" {
		return errors.New("flow: the operation was offered as \"continue\" only")
	}
	instruction, err := textOf(e, "instruction")
	if err != nil {
		return err
	}
	d.KeepGoing, d.Reason = true, instruction
	return nil
}

// contentText is the text of content: a text, an object that has one, or a list of
// messages with parts, not nested deeper than levels.
func contentText(value []byte, levels int) (string, bool) {
	if levels == 0 {
		return "", false
	}
	if text, ok := jsontext.String(value); ok {
		return text, text != ""
	}
	if jsontext.IsObject(value) {
		if text, ok := jsontext.String(jsontext.Get(value, "text")); ok {
			return text, text != ""
		}
		return contentText(jsontext.Get(value, "parts"), levels-1)
	}
	var joined string
	all := jsontext.IsArray(value)
	_ = jsontext.Array(value, func(one []byte) bool {
		text, ok := contentText(one, levels-1)
		all = all && ok
		joined = joinLines(joined, text)
		return true
	})
	return joined, all && joined != ""
}

func joinLines(before, next string) string {
	if before == "" || next == "" {
		return before + next
	}
	return before + "\n" + next
}
