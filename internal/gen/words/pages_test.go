// Package words holds tests of what people read: the pages, and the texts in the
// programs.
package words

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

// What a page of the guide may have.
const (
	mostPages     = 7
	mostWords     = 700
	sentenceWords = 20 // on average
)

// The guide is read in 25 minutes: few pages, short ones, in short sentences. README and
// troubleshooting have short sentences as well.
func TestTheGuideIsShort(t *testing.T) {
	guide := glob(t, "docs/guide/*.md")
	if len(guide) > mostPages {
		t.Errorf("the guide has %d pages, want at most %d", len(guide), mostPages)
	}
	for _, file := range guide {
		if n := len(strings.Fields(comment.ReplaceAllString(readPage(t, file), ""))); n > mostWords {
			t.Errorf("%s has %d words, want at most %d", file, n, mostWords)
		}
	}
	for _, file := range append(guide, filepath.Join(root, "README.md"), filepath.Join(root, "docs/troubleshooting.md")) {
		sentences := sentencesOf(readPage(t, file))
		words := 0
		for _, s := range sentences {
			words += len(strings.Fields(s))
		}
		if len(sentences) == 0 || words > sentenceWords*len(sentences) {
			t.Errorf("%s: %d words in %d sentences, want at most %d words each on average", file, words, len(sentences),
				sentenceWords)
		}
		t.Logf("%s: %d sentences of %.1f words", file, len(sentences), float64(words)/float64(max(1, len(sentences))))
	}
}

// Words of which only those who wrote the first version know what they mean, and what
// to say instead.
var privateWords = map[string]string{
	`corridors?`:               "pipeline",
	`(the|this|whole) houses?`: "the program",
	`rooms`:                    "packages, memory, space",
	`walls?`:                   "limits",
	`(front|back) doors?`:      "ways in",
	`in earnest`:               "really",
	`told twice`:               "reported twice",
	`is no yes`:                "is not a yes",
	`safe neighbours?`:         "nearest answer that is safe",
	`as hookmux writes it`:     "as hookmux wrote it",
	`peculiar\w*`:              "special",
	`needs? leave`:             "need permission",
	`rehears\w+`:               "dry run",
	`passages?`:                "event, call",
	`desks?`:                   "approvals",
	`tombs?`:                   "turns that ended",
	`shelf|shelves`:            "store",
	`summon\w*`:                "call",
	`buried`:                   "ended",
	`doom\w*`:                  "ended",
	`wreck\w*`:                 "broken",
	`and (its|their) kin`:      "and the like",
	`mend(s|ed|ing)?`:          "fix",
	`hitherto|whence|thereof`:  "plain words",
}

// No page and no text of the programs has a private word.
func TestNoPrivateWords(t *testing.T) {
	words := map[*regexp.Regexp]string{}
	for pattern, instead := range privateWords {
		words[regexp.MustCompile(`(?i)\b(`+pattern+`)\b`)] = instead
	}
	report := func(where, text string) {
		for pattern, instead := range words {
			for _, found := range pattern.FindAllString(text, -1) {
				t.Errorf("%s says %q, want for example %q:\n%s", where, found, instead, around(text, found))
			}
		}
	}
	pages := append(glob(t, "docs/*.md"), glob(t, "docs/*/*.md")...)
	for _, file := range append(pages, glob(t, "*.md")...) {
		report(file, inlineCode.ReplaceAllString(codeBlock.ReplaceAllString(readPage(t, file), ""), "code"))
	}
	for folder, texts := range programTexts(t) {
		for _, text := range texts {
			report(folder, text)
		}
	}
}

// around is the part of a text in which something stands.
func around(text, what string) string {
	at := strings.Index(text, what)
	from, to := max(0, at-60), min(len(text), at+len(what)+60)
	return strings.ToValidUTF8(text[from:to], "")
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files and error %v, want some", pattern, len(files), err)
	}
	return files
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
	codeBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	notProse   = regexp.MustCompile(`(?m)^(#.*|\|.*|!\[.*)$`) // headings, tables, pictures
	link       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listItem   = regexp.MustCompile(`(?m)^(- |[0-9]+\. )`)
	itsEnd     = regexp.MustCompile(`[.!?]["')*]*(\s|$)|\n\s*\n`)
)

// sentencesOf are the sentences of a page: no headings, tables, code and pictures. A
// piece of code in a sentence is one word.
func sentencesOf(page string) []string {
	page = codeBlock.ReplaceAllString(comment.ReplaceAllString(page, ""), "\n\n")
	page = link.ReplaceAllString(notProse.ReplaceAllString(page, "\n\n"), "$1")
	page = listItem.ReplaceAllString(inlineCode.ReplaceAllString(page, "code"), "\n\n")
	var list []string
	for _, s := range itsEnd.Split(page, -1) {
		if len(strings.Fields(s)) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// Sentences are counted as a reader would.
func TestSentencesOf(t *testing.T) {
	page := "# Not this\n\nOne two. Three `a b c` four (five)!\n- six\n- seven: eight\n\n```\nno. no.\n```\n\n| no. |\n" +
		"<!-- no. -->\n[nine ten](x.md#y)\n"
	if got, want := len(sentencesOf(page)), 5; got != want {
		t.Errorf("%d sentences %q, want %d", got, sentencesOf(page), want)
	}
}
