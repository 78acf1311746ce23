package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// textOf reads a picture as XML and gives its texts.
func textOf(t *testing.T, svg string) string {
	t.Helper()
	var words strings.Builder
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words.String()
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		if text, ok := token.(xml.CharData); ok {
			words.Write(text)
		}
	}
}

func TestDrawFilm(t *testing.T) {
	still := drawFilm(wide, film{{text: "\x1b[1mbold\x1b[0m <tag> & \x1b[33myellow\x1b[0m  end\nnext"}})
	for _, want := range []string{"bold", "<tag> &", "yellow", "end", "next"} {
		if got := textOf(t, still); !strings.Contains(got, want) {
			t.Errorf("the picture says %q, want %q in it", got, want)
		}
	}
	for _, want := range []string{`font-weight="bold">bold<`, palette[3] + `">yellow<`} {
		if !strings.Contains(still, want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	if strings.Contains(still, "animation") {
		t.Error("a still moves")
	}
	moving := drawFilm(phone, film{{text: "one", key: "a", caption: "approves", lasts: time.Second},
		{text: "two", lasts: 3 * time.Second}})
	if got := textOf(t, moving); !strings.Contains(got, "one") || !strings.Contains(got, "two") || !strings.Contains(got, "approves") {
		t.Errorf("the film says %q, want both frames and the caption", got)
	}
	for _, want := range []string{"animation-duration:4.0s", ".f0{visibility:visible}"} {
		if !strings.Contains(moving, want) {
			t.Errorf("the film has no %s: it lasts as long as its frames, and the first is there without animation", want)
		}
	}
}

// The pictures in docs are what `make pictures` makes: they show the demo.
func TestPicturesOfDocs(t *testing.T) {
	for name, words := range map[string][]string{
		"view.svg":       {"4 waiting", "Run the payment tests", "approve"},
		"request.svg":    {"Claude Code has a plan", "Compare row counts every night"},
		"demo.svg":       {"4 waiting", "Where should the cache live?", "use make clean", "git-history.force-push"},
		"demo-phone.svg": {"4 waiting", "Where should the cache live?", "use make clean", "force-push"},
	} {
		svg, err := os.ReadFile("../../../docs/pictures/" + name)
		if err != nil {
			t.Fatalf("%v; run make pictures", err)
		}
		text := textOf(t, string(svg))
		for _, want := range words {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not show %q; run make pictures", name, want)
			}
		}
	}
}

// The pictures show the keys that the view shows now, with the words it has for them.
func TestPicturesShowTheKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("plays the demo")
	}
	recorded, err := recordDemo(wide)
	if err != nil {
		t.Fatal(err)
	}
	plan := recorded.at("Claude Code has a plan", "Compare row counts")
	if plan == nil {
		t.Fatal("the demo never showed a plan")
	}
	lines := strings.Split(strings.TrimSpace(plainText(plan[0].text)), "\n")
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	keys := strings.Split(strings.TrimSpace(lines[len(lines)-1]), "  ")
	if len(keys) < 3 {
		t.Fatalf("the last line is %q, want keys", lines[len(lines)-1])
	}
	for _, name := range []string{"request.svg", "demo.svg"} {
		svg, err := os.ReadFile("../../../docs/pictures/" + name)
		if err != nil {
			t.Fatal(err)
		}
		said := squeeze(textOf(t, string(svg)))
		for _, key := range keys {
			if !strings.Contains(said, squeeze(key)) {
				t.Errorf("%s has no key %q; run make pictures", name, key)
			}
		}
	}
}
