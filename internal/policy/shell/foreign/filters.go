package foreign

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
)

// maxText limits the text that a filter makes.
const maxText = 256 << 10

// filter returns what the program prints for the text on standard input.
type filter func(args []string, text string) (string, bool)

var table = map[string]filter{
	"base64": decodeWith(decodeBase64), "gbase64": decodeWith(decodeBase64), "base32": decodeWith(decodeBase32),
	"basenc": basencText, "xxd": hexText, "openssl": opensslText,
	"rev": reverseText, "tac": reverseOrder, "tr": trText, "gtr": trText, "sed": sedText, "gsed": sedText,
	"cut": cutText, "gcut": cutText, "head": headText, "ghead": headText, "tail": tailText,
	// It doesn't matter what these leave out or sort: all lines are kept.
	"grep": unchangedText, "egrep": unchangedText, "sort": unchangedText, "fold": unchangedText, "fmt": unchangedText,
	"awk": awkText, "gawk": awkText, "mawk": awkText, "paste": pasteText, "xargs": joinedText,
	"dd": unchangedText, "uniq": unchangedText, "pv": unchangedText, "iconv": unchangedText, "sponge": unchangedText,
	"column": unchangedText, "buffer": unchangedText, "unbuffer": unchangedText, "dos2unix": unchangedText,
	"gunzip": unzipText, "zcat": unzipText, "gzip": unzipText, "gzcat": unzipText,
}

// IsFilter reports whether a program of this base name is a filter.
func IsFilter(name string) bool {
	_, ok := table[name]
	return ok
}

// FilterOutput returns what the program prints for the text on its standard input; ok is true
// if that follows from its arguments.
func FilterOutput(name string, args []string, text string) (string, bool) {
	f, ok := table[name]
	if !ok || len(text) > maxText {
		return "", false
	}
	return f(args, text)
}

func unchangedText(_ []string, text string) (string, bool) { return text, true }

// decodeWith returns a filter that decodes if an option asks for it.
func decodeWith(decode func(string) (string, bool)) filter {
	return func(args []string, text string) (string, bool) {
		for _, a := range args {
			switch {
			case a == "--decode", len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a, "dD"):
				return decode(text)
			}
		}
		return "", false
	}
}

func decodeBase64(s string) (string, bool) {
	s = strings.TrimRight(strings.Join(strings.Fields(s), ""), "=")
	out, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		out, err = base64.RawURLEncoding.DecodeString(s)
	}
	return string(out), err == nil
}

func decodeBase32(s string) (string, bool) {
	s = strings.TrimRight(strings.ToUpper(strings.Join(strings.Fields(s), "")), "=")
	out, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(s)
	return string(out), err == nil
}

func decodeHex(s string) (string, bool) {
	out, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	return string(out), err == nil
}

// basencText decodes as basenc --base64 -d and basenc --base16 -d do.
func basencText(args []string, text string) (string, bool) {
	for _, a := range args {
		switch a {
		case "--base64", "--base64url":
			return decodeBase64(text)
		case "--base32":
			return decodeBase32(text)
		case "--base16":
			return decodeHex(text)
		}
	}
	return "", false
}

func hexText(args []string, text string) (string, bool) {
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && strings.Contains(a, "r") {
			return decodeHex(text)
		}
	}
	return "", false
}

// opensslText decodes as openssl base64 -d and openssl enc -base64 -d do.
func opensslText(args []string, text string) (string, bool) {
	decodes, known := false, false
	for _, a := range args {
		decodes = decodes || a == "-d"
		known = known || a == "base64" || a == "-base64" || a == "-a"
	}
	if !decodes || !known {
		return "", false
	}
	return decodeBase64(text)
}

// reverseText reverses each line.
func reverseText(_ []string, text string) (string, bool) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = Reverse(l)
	}
	return strings.Join(lines, "\n"), true
}

// Reverse reverses a text.
func Reverse(s string) string {
	rs := []rune(s)
	for a, b := 0, len(rs)-1; a < b; a, b = a+1, b-1 {
		rs[a], rs[b] = rs[b], rs[a]
	}
	return string(rs)
}

func reverseOrder(_ []string, text string) (string, bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for a, b := 0, len(lines)-1; a < b; a, b = a+1, b-1 {
		lines[a], lines[b] = lines[b], lines[a]
	}
	return strings.Join(lines, "\n") + "\n", true
}

func unzipText(_ []string, text string) (string, bool) {
	r, err := gzip.NewReader(bytes.NewReader([]byte(text)))
	if err != nil {
		return "", false
	}
	out, err := io.ReadAll(io.LimitReader(r, maxText))
	return string(out), len(out) > 0 || err == nil
}

// headText returns the first lines, or the first bytes.
func headText(args []string, text string) (string, bool) {
	if n, ok := countOf(args, 'c'); ok {
		if n < 0 {
			return text[:max(0, len(text)+n)], true
		}
		return text[:min(n, len(text))], true
	}
	n, ok := countOf(args, 'n')
	if !ok {
		n = 10
	}
	lines := strings.SplitAfter(text, "\n")
	if n < 0 {
		n = max(0, len(lines)-1+n)
	}
	return strings.Join(lines[:min(n, len(lines))], ""), true
}

// tailText returns the last lines or bytes, or all from one on.
func tailText(args []string, text string) (string, bool) {
	for i, a := range args {
		value := strings.TrimPrefix(strings.TrimPrefix(a, "-n"), "-c")
		if a == "-n" || a == "-c" {
			value = strings.Join(args[min(i+1, len(args)):min(i+2, len(args))], "")
		}
		from, found := strings.CutPrefix(value, "+")
		if n, err := strconv.Atoi(from); found && err == nil && n > 0 {
			if strings.HasPrefix(a, "-c") {
				return text[min(n-1, len(text)):], true
			}
			lines := strings.SplitAfter(text, "\n")
			return strings.Join(lines[min(n-1, len(lines)):], ""), true
		}
	}
	if n, ok := countOf(args, 'c'); ok && n >= 0 {
		return text[max(0, len(text)-n):], true
	}
	n, ok := countOf(args, 'n')
	if !ok || n < 0 {
		n = 10
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "") + "\n", true
}

// countOf returns the number an option of one letter has; -5 means -n 5.
func countOf(args []string, letter byte) (int, bool) {
	for i, a := range args {
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		value := a[2:]
		switch {
		case a[1] == letter && value == "" && i+1 < len(args):
			value = args[i+1]
		case letter == 'n' && a[1] >= '0' && a[1] <= '9':
			value = a[1:]
		case a[1] != letter:
			continue
		}
		if n, err := strconv.Atoi(value); err == nil {
			return n, true
		}
	}
	return 0, false
}

// awkText recognises programs that print every line as it is.
func awkText(args []string, text string) (string, bool) {
	if len(args) != 1 {
		return "", false
	}
	switch strings.Join(strings.Fields(args[0]), "") {
	case "{print}", "{print$0}", "1", "//", "NF", "{print};":
		return text, true
	}
	return "", false
}

// pasteText joins the lines, as paste -s does.
func pasteText(args []string, text string) (string, bool) {
	line := strings.Join(args, " ")
	if !strings.HasPrefix(line, "-s") && !strings.Contains(line, " -s") {
		return "", false
	}
	glue := "\t"
	if _, d, ok := strings.Cut(line, "d"); ok && d != "" {
		glue = d[:1]
	}
	return strings.Join(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), glue) + "\n", true
}

// joinedText joins the lines into one, as xargs without a command prints them.
func joinedText(args []string, text string) (string, bool) {
	if len(args) > 0 {
		return "", false
	}
	return strings.Join(strings.Fields(text), " ") + "\n", true
}
