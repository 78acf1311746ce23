package event

import "strings"

// Who settles a verdict besides hooks, as [Decision.By] and the journal have it. A hook
// stands there with its id, which holds no blanks.
const (
	ByUser           = "person"           // you, asked about this call
	ByHookmux        = "hookmux"          // hookmux itself, for its own safety
	ByApprovalPolicy = "approvals.policy" // the setting that says which calls you are asked about
	BySupposed       = "--decision"       // nobody: `hookmux why` supposes the decision
)

const permissionStart = "permission "

// ByPermission returns who settles a verdict where a standing yes of a person does.
func ByPermission(id string) string { return permissionStart + id }

// PermissionOf returns the id of the permission that settled a verdict; false when none did.
func PermissionOf(by string) (id string, ok bool) { return strings.CutPrefix(by, permissionStart) }
