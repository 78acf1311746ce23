package paths

import "testing"

func TestShorten(t *testing.T) {
	for _, c := range []struct{ home, text, want string }{
		{"/home/al", "/home/al/x.json", "~/x.json"},
		{"/home/al", "/home/al", "~"},
		{"/home/al/", "edited /home/al/a, /home/al/b", "edited ~/a, ~/b"},
		{"/home/al", "run `cd /home/al` (\"/home/al/x\":3)", "run `cd ~` (\"~/x\":3)"},
		{"/home/al", "/home/alice/x and /home/al-2/x", "/home/alice/x and /home/al-2/x"},
		{"/home/al", "/mnt/home/al/x", "/mnt/home/al/x"},
		{"/", "/etc/x", "/etc/x"},
		{"", "/etc/x", "/etc/x"},
	} {
		if got := Shorten(c.home, c.text); got != c.want {
			t.Errorf("Shorten(%q, %q) = %q, want %q", c.home, c.text, got, c.want)
		}
	}
}
