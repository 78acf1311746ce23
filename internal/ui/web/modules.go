package web

import (
	"fmt"
	"regexp"
	"strings"
)

// The page's modules use three forms of import and export, one to a line. The test of
// [joinModules] fails for any other.
var (
	importLine = regexp.MustCompile(`(?m)^import (\{[^}]*\}|\* as (\w+)) from '\./(\w+)\.js'$`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:const|class) (\w+))`)
)

// joinModules makes one module of app.js and everything it imports. Each keeps names of
// its own: it becomes a function that returns what it exports.
func joinModules(read func(name string) []byte) string {
	var out strings.Builder
	done := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		text := string(read(name + ".js"))
		for _, one := range importLine.FindAllStringSubmatch(text, -1) {
			add(one[3])
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
		fmt.Fprintf(&out, "const $%s = (() => {\n%s\nreturn { %s }\n})()\n", name, text, strings.Join(names, ", "))
	}
	add("app")
	return out.String()
}
