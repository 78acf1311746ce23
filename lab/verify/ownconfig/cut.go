package ownconfig

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
	"github.com/hookmux/hookmux/internal/redact"
)

// What is cut out of the user's config before it is copied, by splices into its text: everything
// else stays as it is.

// secretName matches settings whose value isn't copied.
var secretName = lazyregexp.New(`(?i)(api_?key|token|secret|password|passwd|credential|oauth|auth_?header|bearer|private_?key)|^key$`)

// private names tables whose values are anything, at whatever depth.
var private = map[string]bool{"env": true, "set": true, "headers": true}

// secretFlag is an argument that is followed by a secret.
var secretFlag = lazyregexp.New(`(?i)^(-H|-u|--(header|user|proxy-user|pass)|--?[a-z_-]*(key|token|secret|password|passwd|credential|oauth|bearer)[a-z_-]*)$`)

// taken names the top-level settings that come along although there is text in
// them: those that decide whether and how hooks run.
var taken = nameSet("hooks", "permissions", "sandbox", "outputStyle", "hooksConfig", "trustedFolders",
	"trusted_folders",
	"projects", "features", "sandbox_mode", "sandbox_workspace_write", "approval_policy", "permission", "folders")

func nameSet(list ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range list {
		out[n] = true
	}
	return out
}

// redacted replaces a secret.
const redacted = "REDACTED"

// cutting collects what has to be done to a text.
type cutting struct {
	reader  edit.Reader
	moved   func(string) string
	sets    []splice
	removes [][]string
	renames []splice
	behind  []string // for display
}

type splice struct {
	path  []string
	value any
	to    string // the new name of the key
}

// cutCredentials removes what isn't copied. moved returns the new name of keys that are paths; nil
// leaves them.
func cutCredentials(a *agent.Agent, f edit.Format, src []byte, moved func(string) string) ([]byte, []string, error) {
	if f == edit.JSON && len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))) == 0 {
		return src, nil, nil
	}
	r, err := f.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	c := &cutting{reader: r, moved: moved}
	for _, key := range lastOfEach(r.Keys()) {
		_, isEvent := a.Event(key)
		raw := r.Raw(key)
		switch {
		case private[key] || secretName.MatchString(key) && !filepath.IsAbs(key) && !holdsNoText(raw),
			!taken[key] && !isEvent && !filepath.IsAbs(key) && !holdsNoText(raw):
			c.removes = append(c.removes, []string{key})
			c.behind = append(c.behind, key)
			continue
		}
		c.walkValue([]string{key}, raw)
	}
	out := src
	for _, s := range c.sets {
		if out, err = f.Set(out, s.path, s.value); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range c.removes {
		if out, err = f.Remove(out, path); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range c.renames {
		if out, err = f.Remove(out, s.path); err != nil {
			return nil, nil, err
		}
		if out, err = f.Set(out, append(slices.Clone(s.path[:len(s.path)-1]), s.to), s.value); err != nil {
			return nil, nil, err
		}
	}
	out, said := withoutSecretComments(out, f != edit.JSON)
	if said {
		c.behind = append(c.behind, "comments that name credentials")
	}
	return out, c.behind, nil
}

// walkValue looks at one value and what is below it.
func (c *cutting) walkValue(path []string, raw json.RawMessage) {
	here := slices.Clone(path)
	if last := path[len(path)-1]; c.moved != nil && c.moved(last) != last {
		c.renames = append(c.renames, splice{path: here, value: raw, to: c.moved(last)})
	}
	var text string
	var list []json.RawMessage
	switch {
	case len(raw) == 0:
	case raw[0] == '{':
		for _, key := range lastOfEach(c.reader.Keys(path...)) {
			below := append(slices.Clone(path), key)
			value := c.reader.Raw(below...)
			if private[key] || secretName.MatchString(key) && !filepath.IsAbs(key) && !isHash(value) &&
				!holdsNoText(value) {
				c.removes = append(c.removes, below)
				c.behind = append(c.behind, strings.Join(below, "."))
				continue
			}
			c.walkValue(below, value)
		}
	case raw[0] == '[' && json.Unmarshal(raw, &list) == nil:
		for i, value := range list {
			below := append(slices.Clone(path), strconv.Itoa(i))
			var before string
			if i > 0 && json.Unmarshal(list[i-1], &before) == nil && secretFlag.MatchString(before) {
				c.hideValue(below, redacted) // in a command that is a list, a flag's value is separate
				continue
			}
			c.walkValue(below, value)
		}
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil && !isHash(raw):
		if clean := withoutShellSecrets(redact.Text(text)); clean != text {
			c.hideValue(here, clean)
		}
	}
}

func (c *cutting) hideValue(path []string, with string) {
	c.sets = append(c.sets, splice{path: path, value: with})
	c.behind = append(c.behind, "a secret in "+strings.Join(path, "."))
}

// shellSecret matches a line for a shell that assigns to the name of a secret, or passes a value to
// a flag for one; -u takes a user's only if a colon follows the name.
var shellSecret = lazyregexp.New(`(?i)(\b[a-z0-9_]*(?:pass|passwd|password|passphrase|secret|token|api_?key|credential|bearer)[a-z0-9_]*=|(?:^|\s)--?[a-z-]*(?:pass|passwd|password|passphrase|secret|token|api-?key|credential|bearer)[= ]|(?:^|\s)(?:-u ?|--(?:proxy-)?user[= ])[\w.@-]+:)("[^"]*"|'[^']*'|[^\s;&|<>()"']+)`)

// withoutShellSecrets removes secrets that have no shape of their own and are known by what
// precedes them. What only refers to a variable is kept.
func withoutShellSecrets(line string) string {
	return shellSecret.Compiled().ReplaceAllStringFunc(line, func(found string) string {
		m := shellSecret.FindStringSubmatch(found)
		if name := strings.ToLower(m[1]); strings.Contains(name, "bypass") ||
			strings.HasPrefix(strings.Trim(m[2], `"`), "$") || strings.Contains(m[2], redactmarks.Head) {
			return found
		}
		return m[1] + redacted
	})
}

// lastOfEach returns every key once: of several keys of a name the last one is used.
func lastOfEach(keys []string) []string {
	var out []string
	for _, k := range keys {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// holdsNoText reports whether a value has no text in it, and so no secret either.
func holdsNoText(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	var plain func(any) bool
	plain = func(v any) bool {
		switch v := v.(type) {
		case string:
			return false
		case []any:
			return !slices.ContainsFunc(v, func(e any) bool { return !plain(e) })
		case map[string]any:
			for _, e := range v {
				if !plain(e) {
					return false
				}
			}
		}
		return true
	}
	return plain(v)
}

// isHash reports whether a value is the hash of a trusted hook, which is no secret.
func isHash(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte(`"sha256:`)) }

// laidOver returns a text with every value of the test bed's own in its place, table by
// table.
func laidOver(f edit.Format, text, ours []byte) ([]byte, error) {
	r, err := f.Parse(ours)
	if err != nil {
		return nil, err
	}
	var lay func(path []string) error
	lay = func(path []string) error {
		for _, key := range lastOfEach(r.Keys(path...)) {
			below := append(slices.Clone(path), key)
			theirs, err := f.Parse(text)
			if err != nil {
				return err
			}
			own, have := r.Raw(below...), theirs.Raw(below...)
			if len(own) > 0 && own[0] == '{' && len(have) > 0 && have[0] == '{' {
				if err := lay(below); err != nil {
					return err
				}
				continue
			}
			if text, err = f.Set(text, below, own); err != nil {
				return err
			}
		}
		return nil
	}
	return text, lay(nil)
}

// withoutSecretComments removes from comments what looks like or is called a credential.
func withoutSecretComments(src []byte, hash bool) ([]byte, bool) {
	var out []byte
	changed, last := false, 0
	for _, at := range findComments(src, hash) {
		text := string(src[at[0]:at[1]])
		clean := redact.Text(text)
		if secretName.MatchString(clean) {
			switch {
			case strings.HasPrefix(text, "/*"):
				clean = "/* left out */"
			case hash:
				clean = "# left out"
			default:
				clean = "// left out"
			}
		}
		if clean != text {
			changed = true
			out = append(append(out, src[last:at[0]]...), clean...)
			last = at[1]
		}
	}
	return append(out, src[last:]...), changed
}

// findComments finds the positions of comments: after # in TOML, // and /* */ in JSON, never inside
// a string.
func findComments(src []byte, hash bool) (found [][2]int) {
	has := func(i int, s string) bool { return bytes.HasPrefix(src[i:], []byte(s)) }
	until := func(i int, s string) int {
		if n := bytes.Index(src[i:], []byte(s)); n >= 0 {
			return i + n
		}
		return len(src)
	}
	for i := 0; i < len(src); {
		switch {
		case hash && (has(i, `"""`) || has(i, "'''")):
			i = min(len(src), until(i+3, string(src[i:i+3]))+3)
		case src[i] == '"':
			for i++; i < len(src) && src[i] != '"' && src[i] != '\n'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
			i++
		case hash && src[i] == '\'':
			i = min(len(src), until(i+1, "'")+1)
		case hash && src[i] == '#', !hash && has(i, "//"):
			end := until(i, "\n")
			found = append(found, [2]int{i, end})
			i = end
		case !hash && has(i, "/*"):
			end := min(len(src), until(i+2, "*/")+2)
			found = append(found, [2]int{i, end})
			i = end
		default:
			i++
		}
	}
	return found
}
