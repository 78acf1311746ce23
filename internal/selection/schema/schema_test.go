package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
)

// compiled returns a schema as an editor uses it.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	data, err := Write(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatalf("the schema of %s is none: %v", name, err)
	}
	return s
}

func check(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: error %v, want no error", text, err)
	}
	return s.Validate(doc)
}

// The schema of settings says yes and no where hookmux does.
func TestConfigAgrees(t *testing.T) {
	s := compiled(t, "config")
	dir := t.TempDir()
	for _, text := range []string{
		`{}`, `{"$schema": "x"}`, `[]`, `"on"`,
		`{"guard.destructive": "block"}`, `{"guard.destructive": "loud"}`, `{"guard.destructive": true}`, `{"guard.destructiv": "block"}`,
		`{"journal.keep": "30d"}`, `{"journal.keep": "1w2d"}`, `{"journal.keep": "1.5d"}`, `{"journal.keep": "90m"}`, `{"journal.keep": 30}`,
		`{"journal.keep": ""}`, `{"journal.keep": "d"}`, `{"journal.keep": "-1d"}`, `{"journal.keep": "1"}`, `{"journal.keep": "soon"}`,
		`{"journal.keep.claude": "3d"}`, `{"journal.keep.Claude": "3d"}`, `{"journal.keep.": "3d"}`, `{"guard.destructive.claude": "on"}`,
		`{"journal.maxSize": "1GiB"}`, `{"journal.maxSize": "500MB"}`, `{"journal.maxSize": "2g"}`, `{"journal.maxSize": "1.5 GiB"}`,
		`{"journal.maxSize": 1073741824}`, `{"journal.maxSize": 17}`, `{"journal.maxSize": -1}`, `{"journal.maxSize": 1073741824.5}`,
		`{"journal.maxSize": "x"}`, `{"journal.maxSize": true}`,
		`{"guard.allow": []}`, `{"guard.allow": ["a", "b"]}`, `{"guard.allow": [""]}`, `{"guard.allow": [1]}`, `{"guard.allow": "a"}`,
		`{"notify.command": "notify-send"}`, `{"notify.command": 1}`, `{"hookTimeout": 30000}`, `{"hookTimeout": 0}`, `{"hookTimeout": 1.5}`,
		`{"hookTimeout": 86400001}`, `{"hookTimeout": "1s"}`, `{"approvals.policy.codex": "all"}`, `{"approvals.policy.codex": "some"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		problems := config.New(config.Options{User: dir}).Settings().Problems()
		if err := check(t, s, text); (err == nil) != (len(problems) == 0) {
			t.Errorf("%s: hookmux says %v, the schema %v", text, problems, err)
		}
	}
}

// Every key has its default, and that default is valid where files may set the key.
func TestDefaultsAreValid(t *testing.T) {
	s := compiled(t, "config")
	for _, k := range config.Keys() {
		text, err := json.Marshal(map[string]any{k.Name: defaultValue(k)})
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t, s, string(text)); (err != nil) != config.Sealed(k.Name) {
			t.Errorf("the default of %s: %v, want it refused: %v", k.Name, err, config.Sealed(k.Name))
		}
	}
}

// The schema of hooks says yes and no where hookmux does.
func TestHooksAgree(t *testing.T) {
	s := compiled(t, "hooks")
	with := func(members string) string {
		return `{"version": 1, "hooks": [{"id":"a","agent":"*","hookType":"tool.before","handler":"command","target":"true"` + members + `}]}`
	}
	for _, text := range []string{
		`{}`, `{"version": 1}`, `{"version": 2}`, `{"version": 1, "hooks": {}}`, `{"version": 1, "hook": []}`, `[]`,
		with(``), with(`,"role":"guard"`), with(`,"role":"loud"`), with(`,"role":""`), with(`,"priority":5`), with(`,"priority":"5"`),
		with(`,"priority":1.5`), with(`,"enabled":false`), with(`,"enabled":"no"`), with(`,"timeout":30`), with(`,"timeout":"30s"`),
		with(`,"timeout":"1m30s"`), with(`,"timeout":"soon"`), with(`,"timeout":-1`), with(`,"timeout":86401`), with(`,"timeout":true`),
		with(`,"timeout":""`), with(`,"timeout":"30"`), with(`,"match":{}`), with(`,"match":{"command":"rm"}`), with(`,"match":{"comand":"rm"}`),
		with(`,"match":[]`), with(`,"format":"claude"`), with(`,"format":"codex"`), with(`,"onFailure":"ask"`), with(`,"onFailure":"cry"`),
		with(`,"locked":true`), with(`,"skipAgents":["claude"]`), with(`,"skipAgents":"claude"`), with(`,"unknown":1`),
		strings.Replace(with(``), `"id":"a"`, `"id":"guard.mine"`, 1), strings.Replace(with(``), `"id":"a"`, `"id":"a b"`, 1),
		strings.Replace(with(``), `"id":"a",`, ``, 1), strings.Replace(with(``), `"target":"true"`, `"target":" "`, 1),
		strings.Replace(with(``), `"handler":"command"`, `"handler":"shell"`, 1), strings.Replace(with(``), `"agent":"*"`, `"agent":""`, 1),
	} {
		_, problems := registry.Parse([]byte(text), registry.Known{})
		if err := check(t, s, text); (err == nil) != (len(problems) == 0) {
			t.Errorf("%s: hookmux says %v, the schema %v", text, problems, err)
		}
	}
}

// Every member that hookmux reads has its place in the schema, and no other.
func TestHooksHaveEveryMember(t *testing.T) {
	same := func(what string, typ reflect.Type, properties any) {
		t.Helper()
		var want, got []string
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			want = append(want, name)
		}
		for name := range properties.(object) {
			got = append(got, name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s has %v in the schema, want %v", what, got, want)
		}
	}
	properties := registration()["properties"].(object)
	same("a hook", reflect.TypeFor[hook.Registration](), properties)
	same("match", reflect.TypeFor[hook.Match](), properties["match"].(object)["properties"])
}

// docs/schema holds what hookmux prints. HOOKMUX_UPDATE=1 writes it.
func TestPublished(t *testing.T) {
	for _, name := range Names() {
		want, err := Write(name)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("..", "..", "..", "docs", "schema", name+".schema.json")
		golden.Match(t, file, string(want))
	}
	if _, err := Write("nothing"); err == nil {
		t.Error("a schema that is not there was written")
	}
}
