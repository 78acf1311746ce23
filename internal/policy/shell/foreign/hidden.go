package foreign

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// HiddenTexts returns the texts that program text spells in another way: in base64, in
// hexadecimal digits, as numbers of characters, backwards; up to most of them.
func HiddenTexts(code string, most int) []string {
	var out []string
	add := func(text string) {
		if text != "" && len(out) < most && isPlainText(text) {
			out = append(out, text)
		}
	}
	lower := strings.ToLower(code)
	decodes := strings.Contains(lower, "64") || strings.Contains(lower, "atob") || strings.Contains(lower, "unpack")
	hexes := strings.Contains(lower, "hex") || strings.Contains(code, "pack")
	turns := strings.Contains(code, "[::-1]") || strings.Contains(lower, "reverse")
	if decodes || hexes || turns {
		for _, literal := range strings.Fields(strings.Join(StringLiterals(code), " ")) {
			if decodes {
				if b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(literal, "=")); err == nil {
					add(string(b))
				}
			}
			if b, err := hex.DecodeString(literal); hexes && err == nil {
				add(string(b))
			}
		}
		for _, literal := range StringLiterals(code) {
			if turns {
				reversed, _ := ReverseLines(literal)
				add(reversed)
			}
		}
	}
	if strings.Contains(lower, "chr") || strings.Contains(lower, "charcode") || strings.Contains(lower, "bytes") ||
		strings.Contains(code, "pack") {
		for _, list := range numberList.Compiled().FindAllString(code, most) {
			add(fromNumbers(list))
		}
		add(fromCalls(code))
	}
	return out
}

var (
	numberList = lazyregexp.New(`\b\d{2,3}(?:\s*,\s*\d{2,3}){2,}\b`)
	numberCall = lazyregexp.New(`(?i)chr\(\s*(\d{2,3})\s*\)`)
)

func fromNumbers(list string) string {
	var b strings.Builder
	for _, field := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n > 255 {
			return ""
		}
		b.WriteByte(byte(n))
	}
	return b.String()
}

// fromCalls joins chr(114)+chr(109).
func fromCalls(code string) string {
	var numbers []string
	for _, m := range numberCall.FindAllStringSubmatch(code, 256) {
		numbers = append(numbers, m[1])
	}
	if len(numbers) < 2 {
		return ""
	}
	return fromNumbers(strings.Join(numbers, ","))
}

func isPlainText(s string) bool {
	for _, r := range s {
		if r == unicode.ReplacementChar || r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// printers are the calls with which program text prints something.
var printers = []string{"print", "puts", "console.log", "echo", "say ", "write", "p("}

// PrintedText returns what a small program may print: its string literals, one on a
// line, and what it decodes. ok is false for programs that print nothing known.
func PrintedText(code string, most int) (string, bool) {
	found := false
	for _, p := range printers {
		found = found || strings.Contains(code, p)
	}
	literals := StringLiterals(code)
	if trimmed := strings.TrimSpace(code); !found && len(literals) == 1 && len(trimmed) > 1 &&
		strings.IndexByte("'\"`", trimmed[0]) >= 0 {
		found = true // node -p '"text"'
	}
	if !found || len(literals) == 0 && len(code) > 4096 {
		return "", false
	}
	texts := slices.Concat(literals, HiddenTexts(code, most))
	if len(texts) == 0 || len(texts) > most {
		return "", false
	}
	return strings.ReplaceAll(strings.Join(texts, "\n"), `\n`, "\n") + "\n", true
}

var awkPipe = lazyregexp.New(`\|&?\s*"((?:[^"\\]|\\.)*)"`)

// AwkPipes returns the commands that awk's print writes to, up to most of them.
func AwkPipes(code string, most int) []string {
	var out []string
	for _, m := range awkPipe.FindAllStringSubmatch(code, most) {
		out = append(out, m[1])
	}
	return out
}

// HasAny reports whether one of the words occurs in the text.
func HasAny(text string, list []string) bool {
	for _, word := range list {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// The home directory as programs write it, in a string and after one.
const homeNames = `os\.environ\[\\?["']HOME\\?["']\]|os\.environ\.get\(\\?["']HOME\\?["']\)|process\.env\.HOME|` +
	`ENVIRON\["HOME"\]|ENV\[["']HOME["']\]|\$ENV\{HOME\}|` +
	`os\.path\.expanduser\(["']~["']\)|Dir\.home|Path\.home\(\)|` +
	`(?:require\(["']os["']\)|os)\.homedir\(\)|os\.getenv\(["']HOME["']\)|getenv\(["']HOME["']\)`

var (
	homeInString = lazyregexp.New(`[$#]?\{(?:` + homeNames + `)\}`)
	homeBehind   = lazyregexp.New(`(["'])\s*[+.]?\s*(?:str\()?(?:` + homeNames + `)`)
	homeListed   = lazyregexp.New(`,\s*(?:` + homeNames + `)`)
	// bareCalls matches calls that run text without quotation marks: m4's syscmd(text), dc's !text.
	bareCalls = lazyregexp.New(`\be?syscmd\(([^)"]+)\)|^\s*!\s*([a-z/][^\n]+)`)
	// awkNamePipe matches print | name, where name holds a command.
	awkNamePipe = lazyregexp.New(`\|&?\s*[A-Za-z_]\w*\s*[;})]`)
)

// PipesToName reports whether awk's code pipes text to a command in a variable.
func PipesToName(code string) bool { return awkNamePipe.MatchString(code) }

var denoArgs = lazyregexp.New(`\{\s*args:\s*`)

// CallTexts returns the texts that program text may give to a shell: its literals, and
// what it spells in another way.
func CallTexts(code string, most int) []string {
	code = homeInString.ReplaceAllString(denoArgs.ReplaceAllString(code, " "), "$$HOME")
	code = homeListed.ReplaceAllString(code, `,"$$HOME"`)
	code = homeBehind.ReplaceAllString(code, "$$HOME$1")
	out := StringLiterals(code)
	for i, text := range out {
		text = strings.TrimLeft(text, "|- ")
		for _, place := range [...]string{"%s", "{}"} {
			if i+1 < len(out) && strings.Contains(text, place) {
				text = strings.Replace(text, place, out[i+1], 1)
			}
		}
		out[i] = text
	}
	for _, call := range bareCalls.Compiled().FindAllStringSubmatch(code, most) {
		out = append(out, strings.Trim(call[1]+call[2], "`' "))
	}
	out = append(out, QuotedLists(code, most)...)
	return append(out, HiddenTexts(code, most)...)
}

var writesFile = lazyregexp.New(`(?:open\(["']([^"']+)["'],\s*["'][wa]b?\+?["']\)\.write|writeFileSync|File\.write|` +
	`file_put_contents)\(`)

// WrittenFile returns the file that a small program writes, and the text.
func WrittenFile(code string) (file, text string, ok bool) {
	at := writesFile.Compiled().FindStringSubmatchIndex(code)
	if at == nil || len(code) > 4096 {
		return "", "", false
	}
	if at[2] >= 0 {
		file = code[at[2]:at[3]] + ","
	}
	rest := code[at[1]:]
	for len(rest) > 0 && strings.IndexByte("'\"`", rest[0]) >= 0 {
		end, value := literalEnd(rest, 0)
		if end < 0 {
			break
		}
		if file == "" {
			file = value + ","
		} else {
			return strings.TrimSuffix(file, ","), strings.ReplaceAll(value, `\n`, "\n"), true
		}
		rest = strings.TrimLeft(rest[end+1:], ", ")
	}
	return "", "", false
}
