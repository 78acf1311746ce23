package see

import (
	"strings"
	"testing"
)

// Who waits stands on top and stays there, however low the screen is.
func TestAPageFitsItsScreen(t *testing.T) {
	page := "head\none\ntwo\nthree\nfour\n"
	for rows, want := range map[int]string{
		0: page, 2: page, 6: page,
		5: "head\none\ntwo\n… and 2 more; `hookmux ps` shows all\n",
		3: "head\n… and 4 more; `hookmux ps` shows all\n",
	} {
		got := string(fitToScreen([]byte(page), rows))
		if got != want || rows > 2 && strings.Count(got, "\n") >= rows {
			t.Errorf("%d rows: %q; want got == want and rows <= 2 or strings.Count(got, \"\\n\") < rows", rows, got)
		}
	}
}
