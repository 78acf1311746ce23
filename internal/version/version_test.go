package version

import "testing"

func TestCompare(t *testing.T) {
	// Each version is older than the next.
	rising := []string{
		"", "0.0.1", "0.1.0-dev", "0.1.0-dev.1", "0.1.0-rc.2", "0.1.0-rc.10", "0.1.0",
		"0.2", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
		"1", "1.0.0.1", "v1.2.3", "1.20260731120000000000000.0", "2.0.0",
	}
	for i, a := range rising {
		for j, b := range rising {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Compare(a, b); got != want {
				t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestSameRank(t *testing.T) {
	for _, pair := range [][2]string{
		{"1", "1.0.0"}, {"v1.2.3", "1.2.3"}, {"1.2.3+abc", "1.2.3+def"}, {"01.2.3", "1.2.3"},
		{"junk", ""}, {"a.b.c", "1.x"},
	} {
		if got := Compare(pair[0], pair[1]); got != 0 {
			t.Errorf("Compare(%q, %q) = %d, want 0", pair[0], pair[1], got)
		}
	}
}
