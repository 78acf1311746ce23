package secrets

import (
	"testing"

	"github.com/hookmux/hookmux/internal/guard/guardtest"
	"github.com/hookmux/hookmux/internal/guard/inspect"
)

func TestCorpus(t *testing.T) {
	guardtest.CheckCorpus(t, "../testdata", "secrets", New(inspect.Options{}))
}
