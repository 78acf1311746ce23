package member

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// fill gives every field of a value that can have a text one that names the field.
func fill(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				name := path
				if !field.Anonymous {
					name += "." + field.Name
				}
				fill(v.Field(i), name)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, path)
		fill(value, path)
		v.SetMapIndex(key, value)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"<` + path + `>"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path)
	case reflect.String:
		v.SetString("<" + path + ">")
	case reflect.Interface:
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7)
	default:
		panic(fmt.Sprint(path, " is a ", v.Kind()))
	}
}

// Without content nothing leaves but what, when, where and what came of it. A new field of
// any of the types is missing in the lists, and so has to be looked at.
func TestWithoutContentNothingOfItLeaves(t *testing.T) {
	var event journal.Stored
	var session wire.Session
	var request wire.InboxRequest
	var result wire.InboxReplyResult
	for name, one := range map[string]any{"event": &event, "session": &session, "request": &request, "result": &result} {
		fill(reflect.ValueOf(one).Elem(), name)
	}
	mark := regexp.MustCompile(`<[^<>]*>`)
	for _, one := range []struct {
		what  string
		sent  any
		leave string
	}{
		{"an event", protocol.EventOf(&event, false), "ID Agent Kind Native Tool Session Cwd AgentVersion Caller Outcome.Verdict Outcome.By"},
		{"a session", sessionThere(session, false), "ID Host Agent Status Tool Cwd Pane Mux Server TTY EndReason Unasked Waits Mode Model Version " +
			"Reviewer Turn.ID Turn.Result"},
		{"a request", requestThere(request, false), "ID Status Kind Agent Session Event Tool ToolKind Risk SHA256"},
		{"a result", cleanResult(result, false), "ID Outcome By Why Item.ID Item.Status Item.Kind Item.Agent Item.Session Item.Event Item.Tool " +
			"Item.ToolKind Item.Risk Item.SHA256 Item.End Item.Decision.Choice Item.Decision.By Item.Decision.Outcome Decided.Choice Decided.By " +
			"Decided.Outcome Degraded"},
	} {
		text, err := json.Marshal(one.sent)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text))
		for _, found := range mark.FindAllString(plain, -1) {
			_, field, _ := strings.Cut(strings.Trim(found, "<>"), ".")
			if !slices.Contains(strings.Fields(one.leave), field) {
				t.Errorf("of %s without content, %s leaves the machine", one.what, field)
			}
		}
		if !mark.MatchString(plain) {
			t.Errorf("nothing of %s leaves: %s", one.what, plain)
		}
	}
}
