package agent

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Agents copied the form of their questions from each other, so that one reader serves them
// all: a list of questions with options, or the one question in a tool's input. What an MCP
// server asks comes as the schema of a form.

// questionsOf reads the input of a tool that asks.
func questionsOf(input []byte) []event.Inquiry {
	if list := jsontext.Get(input, "questions"); jsontext.IsArray(list) {
		return readQuestions(list)
	}
	if one, ok := readQuestion(input); ok {
		return []event.Inquiry{one}
	}
	return nil
}

// QuestionsIn reads the questions out of the input of a tool that asks.
func (c *Catalogue) QuestionsIn(input []byte) []event.Inquiry { return questionsOf(input) }

// readQuestions reads a list of questions, the schema of a form, or an address
// that the user is asked to open.
func readQuestions(value []byte) []event.Inquiry {
	if address, ok := jsontext.String(value); ok {
		return []event.Inquiry{{Header: "to be opened in a browser", Text: address}}
	}
	if jsontext.IsObject(value) {
		return readForm(value)
	}
	var out []event.Inquiry
	_ = jsontext.Array(value, func(element []byte) bool {
		if q, ok := readQuestion(element); ok {
			out = append(out, q)
		}
		return true
	})
	return out
}

func readQuestion(value []byte) (event.Inquiry, bool) {
	q := event.Inquiry{
		ID: textAt(value, "id"), Header: textAt(value, "header"), Text: textAt(value, "question", "text", "prompt"),
		Multi: anyTrue(value, "multiSelect", "multiple", "multi_select"), Free: true,
	}
	for _, key := range []string{"custom", "allow_freeform", "allowFreeform"} {
		if string(jsontext.Get(value, key)) == "false" {
			q.Free = false
		}
	}
	for _, key := range []string{"options", "choices"} {
		_ = jsontext.Array(jsontext.Get(value, key), func(option []byte) bool {
			if label, ok := jsontext.String(option); ok {
				q.Options = append(q.Options, event.Option{Label: label})
			} else if label := textAt(option, "label", "value"); label != "" {
				q.Options = append(q.Options, event.Option{Label: label, Description: textAt(option, "description")})
			}
			return true
		})
	}
	if len(q.Options) == 0 {
		q.Free = true // there is no other way to answer it
	}
	return q, q.Text != "" || q.Header != ""
}

// readForm reads the fields of a form as questions. Each is answered with one
// value of the field's type.
func readForm(schema []byte) []event.Inquiry {
	required := map[string]bool{}
	for _, name := range words(jsontext.Get(schema, "required")) {
		required[name] = true
	}
	var out []event.Inquiry
	_ = jsontext.Object(jsontext.Get(schema, "properties"), func(key, field []byte) bool {
		q := event.Inquiry{
			ID: string(key), Header: textAt(field, "title"), Text: textAt(field, "description", "title"),
			Optional: !required[string(key)],
		}
		if q.Text == "" {
			q.Text = q.ID
		}
		switch textAt(field, "type") {
		case "boolean":
			q.Options = []event.Option{{Label: "yes", Value: "true"}, {Label: "no", Value: "false"}}
		case "array":
			q.Multi = true
			q.Options = formOptions(jsontext.Get(field, "items"))
		default:
			q.Options = formOptions(field)
		}
		q.Free = len(q.Options) == 0
		out = append(out, q)
		return true
	})
	if len(out) == 0 { // a form without fields asks for a yes
		out = []event.Inquiry{{Text: "nothing to fill in", Options: []event.Option{{Label: "accept"}}}}
	}
	return out
}

// formOptions returns the values a field is held to, under the names it gives them.
func formOptions(field []byte) []event.Option {
	var out []event.Option
	names := words(jsontext.Get(field, "enumNames"))
	_ = jsontext.Array(jsontext.Get(field, "enum"), func(value []byte) bool {
		option := event.Option{Label: wordOf(value)}
		if i := len(out); i < len(names) {
			option = event.Option{Label: names[i], Value: option.Label}
		}
		out = append(out, option)
		return true
	})
	for _, key := range []string{"oneOf", "anyOf"} {
		_ = jsontext.Array(jsontext.Get(field, key), func(choice []byte) bool {
			if value := jsontext.Get(choice, "const"); value != nil {
				option := event.Option{Label: wordOf(value)}
				if title := textAt(choice, "title"); title != "" {
					option = event.Option{Label: title, Value: option.Label}
				}
				out = append(out, option)
			}
			return true
		})
	}
	return out
}

// textAt returns the first of the keys that has a text.
func textAt(object []byte, keys ...string) string {
	for _, key := range keys {
		if s, ok := jsontext.String(jsontext.Get(object, key)); ok && s != "" {
			return s
		}
	}
	return ""
}

func anyTrue(object []byte, keys ...string) bool {
	for _, key := range keys {
		if string(jsontext.Get(object, key)) == "true" {
			return true
		}
	}
	return false
}

// wordOf returns a value as a word: text without its quotes, anything else as it
// is spelt.
func wordOf(value []byte) string {
	if s, ok := jsontext.String(value); ok {
		return s
	}
	return string(value)
}
