package web

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The page's modules use three forms of import and export, one per line. The test of [modules]
// fails for any other.
var (
	importLine = regexp.MustCompile(`(?m)^import (\{[^}]*\}|\* as (\w+)) from '\./(\w+)\.js'$`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:const|class) (\w+))`)
)

// minify shortens a script or style sheet: on a slow network each kilobyte costs a phone 5 ms.
// What can't be shortened stays as it is.
func minify(source []byte, loader api.Loader) []byte {
	result := api.Transform(string(source), api.TransformOptions{Loader: loader, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true})
	if len(result.Errors) > 0 {
		return source
	}
	return result.Code
}

// modules makes scripts of modules.
type modules struct {
	read func(name string) []byte
	done map[string]bool // in an earlier script, or above
}

// script makes one script of a module and everything it imports that isn't in an earlier
// script. Each module keeps its own names: it becomes a function that returns its exports.
func (m *modules) script(name string) string {
	if m.done[name] {
		return ""
	}
	m.done[name] = true
	var out strings.Builder
	text := string(m.read(name + ".js"))
	for _, one := range importLine.FindAllStringSubmatch(text, -1) {
		out.WriteString(m.script(one[3]))
	}
	var names []string
	for _, one := range exportWord.FindAllStringSubmatch(text, -1) {
		names = append(names, one[2])
	}
	text = exportWord.ReplaceAllString(text, "$1")
	text = importLine.ReplaceAllStringFunc(text, func(line string) string {
		one := importLine.FindStringSubmatch(line)
		if one[2] != "" {
			return fmt.Sprintf("const %s = $%s", one[2], one[3])
		}
		return fmt.Sprintf("const %s = $%s", one[1], one[3])
	})
	fmt.Fprintf(&out, "const $%s = (() => {\n\"use strict\"\n%s\nreturn { %s }\n})()\n", name, text, strings.Join(names, ", "))
	return out.String()
}
