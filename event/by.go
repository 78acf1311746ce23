package event

import "strings"

// Who settles a verdict besides hooks, as [Decision.By] and the journal have it. A hook
// stands there with its id, which holds no blanks.
const (
	ByPerson        = "person"     // a person, asked about this call
	ByHookmux       = "hookmux"    // hookmux itself, for its own safety
	ByApprovalLevel = "gate"       // the setting that says which calls a person is asked about
	BySupposed      = "--decision" // nobody: `hookmux explain` supposes the decision
)

const grantStart = "grant "

// ByGrant is who settles a verdict where a standing yes of a person does.
func ByGrant(id string) string { return grantStart + id }

// GrantOf is the id of the grant that settled a verdict; false when none did.
func GrantOf(by string) (id string, ok bool) { return strings.CutPrefix(by, grantStart) }
