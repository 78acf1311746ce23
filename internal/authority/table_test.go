package authority_test

import (
	"slices"
	"testing"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/attempts"
)

// Every row of the table that is tried on recorded facts is asked here and ends
// as the table says; and everything asked here that is not allowed has a row.
func TestTableOfAttempts(t *testing.T) {
	ends := map[authority.Outcome]attempts.End{
		authority.Refused: attempts.Refused, authority.NeedPIN: attempts.PIN, authority.NeedCode: attempts.Code,
	}
	asked := map[string]authority.Outcome{}
	for _, q := range slices.Concat(attemptQuestions(), terminalQuestions(), attackQuestions(), peopleQuestions()) {
		if q.outcome == authority.Allowed {
			continue
		}
		name := q.name
		if q.row != "" {
			name = q.row
		}
		asked[name] = q.outcome
	}
	for _, row := range attempts.Of(attempts.Person, attempts.Facts) {
		if row.Test != "" {
			continue
		}
		outcome, ok := asked[row.Name]
		switch {
		case !ok:
			t.Errorf("%s stands in the table and is not asked", row.Name)
		case ends[outcome] != row.End:
			t.Errorf("%s ends as %v, and the table says %q", row.Name, outcome, row.End.Words())
		}
		delete(asked, row.Name)
	}
	for name := range asked {
		t.Errorf("%s is asked and does not stand in the table", name)
	}
}
