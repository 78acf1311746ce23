package daemon

import (
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/usage"
)

// A cheaper price would make budgets looser, so that it waits to be accepted like any
// setting; a restart doesn't change that.
func TestPricesCountAsTheyWereAccepted(t *testing.T) {
	const file = usage.PricesFile
	price := func(dollars string) string {
		return "prices: [{models: [mine], input: " + dollars + ", output: 1}]\n"
	}
	f := newFixture(t)
	f.Accept, f.ByPerson = true, true
	f.Write(filepath.Join(f.Dirs.Config, file), price("9"))
	f.Up()
	inForce := func() float64 {
		t.Helper()
		own, err := f.h.pricesFile()()
		if err != nil {
			t.Fatal(err)
		}
		prices, err := usage.ReadPrices(own)
		if err != nil {
			t.Fatal(err)
		}
		one, ok := prices.Find("mine")
		if !ok {
			t.Fatal("your own price isn't in force")
		}
		return one.Input
	}
	if got := inForce(); got != 9 {
		t.Errorf("the price is %v, want 9", got)
	}
	f.Write(filepath.Join(f.Dirs.Config, file), price("0.01"))
	f.Eventually("the change waits", func() bool { _, waits := f.Problem("unaccepted"); return waits })
	f.Down()
	f.Up()
	if got := inForce(); got != 9 {
		t.Errorf("a price that nobody accepted is in force: %v", got)
	}
	acceptNow(t, f.Bench)
	if got := inForce(); got != 0.01 {
		t.Errorf("the accepted price is %v, want 0.01", got)
	}
}
