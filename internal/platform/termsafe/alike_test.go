package termsafe

import "testing"

// What looks like something else is written out.
func TestLookAlikes(t *testing.T) {
	for in, want := range map[string]string{
		"https://good.com∕.evil.com/x":       `https://good.com\u2215.evil.com/x`,
		"good.com⁄login":                     `good.com\u2044login`,
		"good.com⧸login":                     `good.com\u29f8login`,
		"good.com／login":                     `good.com\uff0flogin`,
		"cat ／etc/passwd":                    `cat \uff0fetc/passwd`,
		"dir＼x":                              `dir\uff3cx`,
		"evil․com":                           `evil\u2024com`,
		"evil。com":                           `evil\u3002com`,
		"evil．com":                           `evil\uff0ecom`,
		"evil｡com":                           `evil\uff61com`,
		"http∶//x":                           `http\u2236//x`,
		"curl https://\u0435xample.org":      `curl https://\u0435xample.org`,
		"p\u0430yp\u0430l.com":               `p\u0430yp\u0430l.com`,
		"\u0440\u0430ypal":                   `\u0440\u0430ypal`,
		"g\u03bf\u03bfgle.com":               `g\u03bf\u03bfgle.com`,
		"exжample":                           `ex\u0436ample`,
		"\u0430\u0440\u0440\u04cf\u0435.com": `\u0430\u0440\u0440\u04cf\u0435.com`,
		"www.\u0441\u043e\u0440.com/a":       `www.\u0441\u043e\u0440.com/a`,
		"\uff45xample.com":                   `\uff45xample.com`,
		"\u0570ello":                         `\u0570ello`,
		"e\u0301\u0302\u0303\u0304x":         "e\u0301\u0302" + `\u0303\u0304x`,
		"a\u0336\u0336\u0336":                "a\u0336\u0336" + `\u0336`,
		"rm -rf ~\u2215":                     `rm -rf ~\u2215`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
		}
		if got := Line(in, 0); got != want {
			t.Errorf("Line(%q)\n got %q\nwant %q", in, got, want)
		}
		if got := Text(want); got != want {
			t.Errorf("not stable: %q -> %q", want, got)
		}
	}
}

// Ordinary text of any script stays.
func TestOrdinaryTextStays(t *testing.T) {
	for _, s := range []string{
		"Привет, мир! Запусти тесты в папке src/main.go", "привет.txt", "файл_test.go", "USB-кабель и git-хук",
		"Καλημέρα κόσμε", "Δt = 5 μs, λx.x, πr², σ", "日本語のテスト。次はREADME。", "修改README。", "东京／大阪",
		"请运行 go test。然后提交", "한국어 문장입니다.", "naïve café Ünïcödé Ærøskøbing", "e\u0301 a\u0302\u0301 Vie\u0323\u0302t Nam",
		"tiếng Việt", "שָׁלוֹם", "مَرْحَبًا", "ภาษาไทย ที่นี่", "བསྒྲུབས", "हिन्दी क्षेत्र", "😀 👍🏽 ❤️ 🇩🇪", "“quotes” — dash … ½ × ÷ • · ‹›",
		"Ա. Հայերեն", "│ ├── box ╭─╮", "100 % · 3 × 4", "C:\\users\\x", "«Да», сказал он.", "см. README.md", "ノート", "ＡＢＣ",
	} {
		if got := Text(s); got != s {
			t.Errorf("Text(%q)\n got %q", s, got)
		}
		if got := Line(s, 0); got != s {
			t.Errorf("Line(%q)\n got %q", s, got)
		}
	}
}
