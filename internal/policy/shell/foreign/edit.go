package foreign

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// trText does what tr a-z n-za-m, tr -d x and tr -s ' ' do.
func trText(args []string, text string) (string, bool) {
	deletes, squeezes, complement := false, false, false
	var sets []string
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && len(sets) == 0 {
			deletes = deletes || a == "--delete" || a[1] != '-' && strings.Contains(a, "d")
			squeezes = squeezes || a == "--squeeze-repeats" || a[1] != '-' && strings.Contains(a, "s")
			complement = complement || a == "--complement" || a[1] != '-' && strings.ContainsAny(a, "cC")
			continue
		}
		sets = append(sets, a)
	}
	if len(sets) == 0 || complement {
		return "", false
	}
	from := expandSet(sets[0])
	if len(from) == 0 {
		return "", false
	}
	if deletes {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(string(from), r) {
				return -1
			}
			return r
		}, text), true
	}
	if len(sets) < 2 {
		return text, squeezes
	}
	to := expandSet(sets[1])
	if len(to) == 0 {
		return "", false
	}
	change := map[rune]rune{}
	for i, r := range from {
		change[r] = to[min(i, len(to)-1)]
	}
	return strings.Map(func(r rune) rune {
		if n, ok := change[r]; ok {
			return n
		}
		return r
	}, text), true
}

var setClasses = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:digit:]", "0-9",
	"[:alpha:]", "A-Za-z", "[:space:]", " \t\n\r\v\f", "[:blank:]", " \t", "[:alnum:]", "0-9A-Za-z",
	`\n`, "\n", `\t`, "\t", `\r`, "\r", `\\`, `\`, `\0`, "\x00")

// expandSet expands the characters of a set of tr: a-z, [:upper:], \n, \101.
func expandSet(set string) []rune {
	set = octal.Compiled().ReplaceAllStringFunc(set, func(s string) string {
		n, _ := strconv.ParseUint(s[1:], 8, 8)
		return string(rune(n))
	})
	rs := []rune(setClasses.Replace(set))
	var out []rune
	for i := 0; i < len(rs); i++ {
		if i+2 < len(rs) && rs[i+1] == '-' && rs[i+2] >= rs[i] && rs[i+2]-rs[i] < 256 {
			for r := rs[i]; r <= rs[i+2]; r++ {
				out = append(out, r)
			}
			i += 2
			continue
		}
		out = append(out, rs[i])
	}
	return out
}

var octal = lazyregexp.New(`\\[0-3][0-7]{2}`)

// cutText does what cut -d' ' -f2- and cut -c5- do, for one range.
func cutText(args []string, text string) (string, bool) {
	delimiter, list, kind := "\t", "", byte(0)
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			return "", false
		}
		value := a[2:]
		if strings.HasPrefix(a, "--") {
			name, v, ok := strings.Cut(a[2:], "=")
			if !ok {
				continue
			}
			a, value = "-"+name[:1], v
		} else if value == "" && strings.IndexByte("dfcb", a[1]) >= 0 && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch a[1] {
		case 'd':
			delimiter = value
		case 'f', 'c', 'b':
			list, kind = value, a[1]
		}
	}
	lo, hi, ok := readRange(list)
	if !ok || kind == 0 || delimiter == "" {
		return "", false
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		glue, parts := "", strings.Split(line, "")
		if kind == 'f' {
			glue, parts = delimiter, strings.Split(line, delimiter)
		}
		if kind == 'f' && len(parts) == 1 {
			continue
		}
		lines[i] = strings.Join(parts[min(lo-1, len(parts)):max(min(lo-1, len(parts)), min(hi, len(parts)))], glue)
	}
	return strings.Join(lines, "\n"), true
}

// readRange reads 2, 2-, 2-5 and -5.
func readRange(list string) (lo, hi int, ok bool) {
	first, last, ranged := strings.Cut(list, "-")
	lo, hi = 1, 1<<30
	var err error
	if first != "" {
		if lo, err = strconv.Atoi(first); err != nil || lo < 1 {
			return 0, 0, false
		}
	}
	switch {
	case !ranged:
		hi = lo
	case last != "":
		if hi, err = strconv.Atoi(last); err != nil {
			return 0, 0, false
		}
	}
	return lo, hi, list != "" && list != "-"
}

// sedText does what scripts of s and y commands do that apply to every line.
func sedText(args []string, text string) (string, bool) {
	var scripts []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-e" || a == "--expression":
			i++
			scripts = append(scripts, strings.Join(args[min(i, len(args)):min(i+1, len(args))], ""))
		case a == "-E" || a == "-r" || a == "-u" || a == "-s" || a == "-z":
		case len(a) > 1 && a[0] == '-':
			return "", false
		case len(scripts) == 0:
			scripts = append(scripts, a)
		default:
			return "", false // a file
		}
	}
	extended := strings.Contains(" "+strings.Join(args, " ")+" ", " -E ") ||
		strings.Contains(" "+strings.Join(args, " ")+" ", " -r ")
	rest := strings.Join(scripts, ";")
	for steps := 0; strings.TrimLeft(rest, "; \n\t") != ""; steps++ {
		rest = strings.TrimLeft(rest, "; \n\t")
		if steps > 32 || len(rest) < 4 || rest[0] != 's' && rest[0] != 'y' {
			return "", false
		}
		parts, flags, after, ok := sedParts(rest)
		if !ok || len(text) > maxText {
			return "", false
		}
		if rest[0] == 'y' {
			text, ok = trText([]string{parts[0], parts[1]}, text)
		} else {
			text, ok = substitute(text, parts[0], parts[1], flags, extended)
		}
		if !ok {
			return "", false
		}
		rest = after
	}
	return text, len(scripts) > 0
}

// sedParts splits s/a/b/flags and returns what comes after it.
func sedParts(script string) (parts [2]string, flags, rest string, ok bool) {
	d := script[1]
	n, i := 0, 2
	var b strings.Builder
	for ; i < len(script) && n < 2; i++ {
		switch {
		case script[i] == '\\' && i+1 < len(script):
			i++
			if script[i] != d {
				b.WriteByte('\\')
			}
			b.WriteByte(script[i])
		case script[i] == d:
			parts[n] = b.String()
			b.Reset()
			n++
		default:
			b.WriteByte(script[i])
		}
	}
	end := i
	for end < len(script) && strings.IndexByte("gpIi0123456789", script[end]) >= 0 {
		end++
	}
	return parts, script[i:end], script[end:], n == 2
}

// substitute returns the s command on every line.
func substitute(text, pattern, replacement, flags string, extended bool) (string, bool) {
	if !extended {
		pattern = basicPattern(pattern)
	}
	if strings.ContainsAny(flags, "Ii") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	template := sedTemplate(replacement)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		count := 0
		var out []byte
		at := 0
		for _, m := range re.FindAllStringSubmatchIndex(line, -1) {
			if count++; count > 1 && !strings.Contains(flags, "g") {
				break
			}
			out = append(out, line[at:m[0]]...)
			out = re.ExpandString(out, template, line, m)
			at = m[1]
		}
		if lines[i] = string(append(out, line[at:]...)); len(lines[i]) > maxText {
			return "", false
		}
	}
	return strings.Join(lines, "\n") + "\n", true
}

// basicPattern turns the operators of basic regular expressions into extended ones.
func basicPattern(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			i++
			if strings.IndexByte("(){}|+?", p[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(p[i])
		case strings.IndexByte("(){}|+?", p[i]) >= 0:
			b.WriteByte('\\')
			b.WriteByte(p[i])
		default:
			b.WriteByte(p[i])
		}
	}
	return b.String()
}

// sedTemplate translates & and \1 into Go's syntax.
func sedTemplate(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch {
			case s[i] >= '1' && s[i] <= '9':
				b.WriteString("${" + s[i:i+1] + "}")
			case s[i] == 'n':
				b.WriteByte('\n')
			default:
				b.WriteByte(s[i])
			}
		case s[i] == '&':
			b.WriteString("${0}")
		case s[i] == '$':
			b.WriteString("$$")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
