package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/usage"
	"github.com/hookmux/hookmux/internal/wire"
)

// A cheaper price would make budgets looser, so that it waits to be accepted like any
// setting; a restart doesn't change that.
func TestPricesCountAsTheyWereAccepted(t *testing.T) {
	const file = usage.PricesFile
	price := func(dollars string) string {
		return "prices: [{models: [mine], input: " + dollars + ", output: 1}]\n"
	}
	f := newFixture(t)
	f.Accept, f.ByUser = true, true
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

// A budget notifies you once where it warns and once where it blocks, on the channels of
// every notification.
func TestBudgetsNotify(t *testing.T) {
	w := newFixture(t)
	w.Up()
	r := w.startReceiver()
	w.set("usage.budgets", `["day=10usd warn=50% block=100%","session=1000usd warn=90%"]`)
	record := filepath.Join(w.Dirs.Home, ".claude/projects/p/a.jsonl")
	lines := ""
	use := func(call string, tokens int) { // 5 dollars for a million
		lines += fmt.Sprintf(`{"type":"assistant","sessionId":"s","requestId":"%s","message":{"id":"%s","model":"claude-opus-4-6",`+
			`"usage":{"input_tokens":%d,"output_tokens":0}}}`+"\n", call, call, tokens)
		w.Write(record, lines)
		if err := w.Call(wire.MethodUsage, wire.UsageParams{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	use("a", 800_000)
	use("b", 400_000)
	if post := r.told(w, "notice", "budget-day-10usd"); post["title"] != "budget day-10usd warns you" ||
		!strings.Contains(fmt.Sprint(post["text"]), "$6.00 of $10.00 at list price") {
		t.Errorf("the warning is %v", post)
	}
	use("c", 100_000)
	use("d", 900_000)
	w.Eventually("you are notified that calls are blocked", func() bool { return len(r.all()) == 2 })
	use("e", 900_000)
	posts := r.all()
	if len(posts) != 2 || posts[1]["title"] != "budget day-10usd blocks calls now" ||
		!strings.Contains(fmt.Sprint(posts[1]["next"]), "hookmux usage budget lift day-10usd") {
		t.Errorf("%d notifications: %v; want one warning, then that calls are blocked", len(posts), posts)
	}
}
