package agent

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/platform/embedjson"
)

// compiledFile is data/*.yaml and others.yaml, read, checked and merged: see [Compile].
//
//go:embed catalogue.json
var compiledFile string

// compiledCatalogue holds the catalogue that compiledFile contains.
type compiledCatalogue struct {
	Agents []*Agent
	Others []Known
}

var readCompiled = sync.OnceValue(func() compiledCatalogue {
	var c compiledCatalogue
	if err := embedjson.Unmarshal(compiledFile, &c); err != nil {
		// A test compares the file with the YAML; this is a broken build.
		panic("agent: catalogue.json: " + err.Error() + "; run: go generate ./agent/...")
	}
	return c
})

// Compile reads the YAML files of dir, the folder of this package, and returns what
// catalogue.json holds: the checked entries, one line each, without what is empty.
func Compile(dir string) ([]byte, []Problem) {
	files, problems := ReadFiles(filepath.Join(dir, "data"))
	c, wrong := layFiles(nil, files)
	problems = append(problems, wrong...)
	othersFile := filepath.Join(dir, "others.yaml")
	var others []Known
	data, err := os.ReadFile(othersFile)
	if err == nil {
		err = yaml.UnmarshalWithOptions(data, &others, yaml.Strict())
	}
	if err != nil {
		problems = append(problems, Problem{File: othersFile, Text: err.Error()})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return render(c.entries(), others), nil
}

func render(agents []*Agent, others []Known) []byte {
	var b bytes.Buffer
	b.WriteString("{\n\"Agents\": [")
	writeLines(&b, agents)
	b.WriteString("\n],\n\"Others\": [")
	writeLines(&b, others)
	b.WriteString("\n]\n}\n")
	return b.Bytes()
}

func writeLines[T any](b *bytes.Buffer, list []T) {
	for i, one := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		line, err := json.Marshal(withoutEmpty(reflect.ValueOf(one)))
		if err != nil {
			panic(err) // only strings, numbers, lists and maps get here
		}
		b.Write(line)
	}
}

// withoutEmpty returns v as maps and lists for JSON, without fields that are empty.
func withoutEmpty(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return withoutEmpty(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		addFields(out, v)
		return out
	case reflect.Map:
		out := map[string]any{}
		for key, value := range v.Seq2() {
			out[key.String()] = withoutEmpty(value)
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = withoutEmpty(v.Index(i))
		}
		return out
	default:
		return v.Interface()
	}
}

func addFields(out map[string]any, v reflect.Value) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		switch {
		case field.Anonymous && value.Kind() == reflect.Struct:
			addFields(out, value)
		case !field.IsExported() || value.IsZero():
		case (value.Kind() == reflect.Map || value.Kind() == reflect.Slice) && value.Len() == 0:
		default:
			out[field.Name] = withoutEmpty(value)
		}
	}
}

// Settings are settings of an agent as hookmux writes them. Whole numbers are integers,
// as in YAML.
type Settings map[string]any

// UnmarshalJSON reads what [Compile] wrote.
func (s *Settings) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return err
	}
	for key, value := range values {
		values[key] = withIntegers(value)
	}
	*s = values
	return nil
}

func withIntegers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			f, _ := v.Float64()
			return f
		}
		if n, err := v.Int64(); err == nil && n < 0 {
			return n
		}
		n, _ := v.Int64()
		return uint64(n)
	case map[string]any:
		for key := range v {
			v[key] = withIntegers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withIntegers(v[i])
		}
	}
	return value
}
