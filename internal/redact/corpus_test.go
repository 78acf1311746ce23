package redact

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// testdata/shapes.txt has one way per line in which a secret stands in text.
// The secrets themselves are made here, so that none stands in the tree:
//
//	{A20} 20 letters and digits, {H32} hexadecimal, {X16} capitals and digits,
//	{K50} base58, {L43} small letters and digits, {B40} base64, {N9} digits, {U} a UUID,
//	{P} a password with a sign in it, {W} a password of letters only.
//
// {64:…} is base64 of what stands inside. A | in a line is dropped: it keeps
// the beginnings of providers' tokens apart. \n is a line end.
//
//go:embed testdata/shapes.txt
var shapesText string

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	tenDigits    = "0123456789"
)

func randomText(r *rand.Rand, set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	return string(b)
}

// makeSecret makes one value. At least two digits and both sizes of letters
// stand in every mixed one: a random text of letters only is not the rule.
func makeSecret(r *rand.Rand, class string, n int) string {
	mixedIn := func(set, must string) string {
		b := []byte(randomText(r, set, n))
		for i, c := range r.Perm(n)[:min(n, len(must))] {
			b[c] = must[i]
		}
		return string(b)
	}
	switch class {
	case "A":
		return mixedIn(upperLetters+lowerLetters+tenDigits, "4kQ7wZ9")
	case "H":
		return mixedIn(tenDigits+"abcdef", "a4f7c9")
	case "X":
		return mixedIn(upperLetters+tenDigits, "K4Q7")
	case "L":
		return mixedIn(lowerLetters+tenDigits, "k4q7")
	case "B":
		return mixedIn(upperLetters+lowerLetters+tenDigits, "4kQ7wZ/+")
	case "K":
		return mixedIn("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789", "4kQ7wZ9")
	case "N":
		return randomText(r, "123456789", n)
	case "U":
		h := makeSecret(r, "H", 32)
		return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	case "P":
		return randomText(r, lowerLetters, 5) + randomText(r, tenDigits, 2) + "_" +
			randomText(r, upperLetters+lowerLetters, 6)
	case "W":
		return randomText(r, "bdfgklmnprstv", 1) + "a" + randomText(r, "bdfgklmnprstv", 2) + "o" +
			randomText(r, "bdfgklmnprstv", 2) + "ig" + "um"
	}
	panic("no class " + class)
}

var placeholder = regexp.MustCompile(`\{([A-Z])(\d*)\}`)

// fillShape makes the text of one line, and the secrets in it.
func fillShape(r *rand.Rand, line string) (text string, secrets []string) {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "|", ""), `\n`, "\n")
	line = strings.ReplaceAll(line, "{pipe}", "|")
	inside := ""
	if at := strings.Index(line, "{64:"); at >= 0 {
		end := at + strings.LastIndexByte(line[at:], '}')
		inside = line[at+len("{64:") : end]
		line = line[:at] + "\x00" + line[end+1:]
	}
	fill := func(s string) string {
		return placeholder.ReplaceAllStringFunc(s, func(m string) string {
			parts := placeholder.FindStringSubmatch(m)
			n, _ := strconv.Atoi(parts[2])
			v := makeSecret(r, parts[1], n)
			secrets = append(secrets, v)
			return v
		})
	}
	if inside != "" {
		coded := base64.StdEncoding.EncodeToString([]byte(fill(inside)))
		secrets = []string{coded}
		return strings.Replace(line, "\x00", coded, 1), secrets
	}
	return fill(line), secrets
}

func readShapes(t testing.TB, text string) (lines []string) {
	t.Helper()
	have := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if have[line] {
			t.Errorf("twice in the list: %s", line)
		}
		have[line] = true
		lines = append(lines, line)
	}
	return lines
}

// At least 97 of 100 ways in which a secret stands in text are known, in plain
// text and in JSON.
func TestShapesOfSecrets(t *testing.T) {
	const least, share = 400, 97
	r := rand.New(rand.NewPCG(7, 11))
	lines := readShapes(t, shapesText)
	missed := 0
	for _, line := range lines {
		text, secrets := fillShape(r, line)
		if why := findLeftover(text, secrets); why != "" {
			missed++
			t.Logf("missed: %s\n  %s", line, why)
		}
	}
	t.Logf("%d of %d shapes are missed", missed, len(lines))
	if len(lines) < least {
		t.Errorf("%d shapes are listed, %d are wanted", len(lines), least)
	}
	if (len(lines)-missed)*100 < share*len(lines) {
		t.Errorf("%d of %d shapes are missed, %d%% must be found", missed, len(lines), share)
	}
}

// findLeftover redacts text in three ways and tells what was left over.
func findLeftover(text string, secrets []string) string {
	coded, _ := json.Marshal(map[string]any{"tool_input": map[string]string{"command": text}})
	inJSON, _ := AppendJSON(nil, coded, Limits{})
	for way, out := range map[string]string{
		"text": Text(text), "in a sentence": Text("I ran this:\n" + text + "\nand it worked."), "JSON": string(inJSON),
	} {
		for _, s := range secrets {
			if strings.Contains(out, s) {
				return fmt.Sprintf("%s: %q", way, out)
			}
		}
	}
	return ""
}

// A value that was replaced once is replaced wherever it appears again, by the
// same Redactor only.
func TestSeenValuesAreReplacedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, class := range []string{"A", "B", "H", "P"} {
		v := makeSecret(r, class, 24)
		redactor := New()
		if got := redactor.Text("the result was " + v + " today"); strings.Contains(got, "[redacted") {
			t.Errorf("%s: replaced before it was seen: %s", class, got)
		}
		redactor.Text("DB_PASSWORD=" + v + " ./run")
		for _, text := range []string{"the result was " + v + " today", "x=" + v + ";", `say("` + v + `")`,
			"<" + v + ">", v} {
			if got := redactor.Text(text); strings.Contains(got, v) {
				t.Errorf("%s: left in %q; want no v in got", class, got)
			}
			coded, _ := json.Marshal([]string{text})
			if got, _ := redactor.AppendJSON(nil, coded, Limits{}); strings.Contains(string(got), v) {
				t.Errorf("%s: left in %s; want no v in string(got)", class, got)
			}
		}
		if got := redactor.Text("a" + v + "b " + v + "b"); strings.Contains(got, "[redacted") {
			t.Errorf("%s: another word was replaced: %s", class, got)
		}
		if got := New().Text(v); got != v {
			t.Errorf("%s: a new Redactor knows it: %s", class, got)
		}
	}
}

// The member of an object and the word of an argument list count as seen too,
// and an earlier place in the same text is replaced with the later one.
func TestSeenInJSON(t *testing.T) {
	v := makeSecret(rand.New(rand.NewPCG(1, 2)), "A", 20)
	for _, in := range []string{`{"apiKey":"` + v + `"}`, `["x","--token","` + v + `"]`, `{"c":"A_KEY=` + v + `"}`} {
		redactor := New()
		output := `{"output":"it said ` + v + ` here"}`
		for range 2 { // clean as long as nobody knows better
			if got, _ := redactor.AppendJSON(nil, []byte(output), Limits{}); string(got) != output {
				t.Errorf("before %s\n got %s\nwant %s", in, got, output)
			}
		}
		redactor.AppendJSON(nil, []byte(in), Limits{})
		got, _ := redactor.AppendJSON(nil, []byte(output), Limits{})
		if want := `{"output":"it said [redacted:seen-before] here"}`; string(got) != want {
			t.Errorf("after %s\n got %s\nwant %s", in, got, want)
		}
	}
	if got := New().Text(v + " is A_KEY=" + v); strings.Contains(got, v) {
		t.Errorf("the first place is left: %s", got)
	}
}

func TestMemoryKeepsNoOrdinaryWords(t *testing.T) {
	for _, v := range []string{
		"correcthorsebattery", "123e4567-e89b-12d3-a456-426614174000", "/home/user/project1/x", "1.22.3-alpine-x86", "v0.0.0-20240101000000-abcdef123456",
		"123456789012345", "short1", "internal/pkg2/file.go", "aaaaaaaaaaa1", "two words and 1 more",
	} {
		if worthKeeping(v) {
			t.Errorf("%q would be kept", v)
		}
	}
}
