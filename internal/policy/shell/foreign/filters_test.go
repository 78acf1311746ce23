package foreign

import "testing"

func TestOutputOf(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		in   string
		want string
	}{
		{"tr", []string{"a-z", "n-za-m"}, "uryyb", "hello"},
		{"tr", []string{"[:upper:]", "[:lower:]"}, "AbC", "abc"},
		{"tr", []string{"-d", "\\n"}, "a\nb\n", "ab"},
		{"tr", []string{"_", "\\040"}, "a_b", "a b"},
		{"cut", []string{"-d", ";", "-f2"}, "a;b;c\n", "b\n"},
		{"cut", []string{"-c3-"}, "abcd", "cd"},
		{"cut", []string{"-d:", "-f", "2-"}, "a:b:c", "b:c"},
		{"head", []string{"-1"}, "a\nb\n", "a\n"},
		{"head", []string{"-c", "2"}, "abc", "ab"},
		{"tail", []string{"-n", "+2"}, "a\nb\nc\n", "b\nc\n"},
		{"tail", []string{"-n1"}, "a\nb\n", "b\n"},
		{"sed", []string{"s/X/r/g"}, "XaX\n", "rar\n"},
		{"sed", []string{"-e", "s|a|b|", "-e", "y/b/c/"}, "aa\n", "ca\n"},
		{"sed", []string{"-E", "s/(.)(.)/\\2\\1/"}, "ab\n", "ba\n"},
		{"sed", []string{`s/\(a\)/&&/`}, "a\n", "aa\n"},
		{"base64", []string{"-di"}, "aGk=\n", "hi"},
		{"base32", []string{"-d"}, "NBUQ====\n", "hi"},
		{"xxd", []string{"-r", "-p"}, "68 69\n", "hi"},
		{"openssl", []string{"enc", "-d", "-base64"}, "aGk=", "hi"},
		{"rev", nil, "ab\ncd", "ba\ndc"},
		{"tac", nil, "a\nb\n", "b\na\n"},
	} {
		if got, ok := FilterOutput(test.name, test.args, test.in); !ok || got != test.want {
			t.Errorf("%s %q of %q: got %q, %v, want %q", test.name, test.args, test.in, got, ok, test.want)
		}
	}
}

func TestUnknownOutput(t *testing.T) {
	for _, args := range [][]string{{"tr"}, {"tr", "-c", "a", "b"}, {"cut", "file"}, {"sed", "/x/d"}, {"sed", "s/a/b/", "file"},
		{"sed", "s/(/b/", "-E"}, {"base64"}, {"wc", "-l"}, {"head", "-c", "-9"}, {"gunzip"}} {
		if got, ok := FilterOutput(args[0], args[1:], "text"); ok && got != "" {
			t.Errorf("%q: got %q, want nothing known", args, got)
		}
	}
}
