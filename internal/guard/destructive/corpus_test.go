package destructive

import (
	"testing"

	"github.com/hookmux/hookmux/internal/guard/guardtest"
)

func TestCorpus(t *testing.T) {
	guardtest.CheckCorpus(t, "../testdata", "destructive", New())
}
