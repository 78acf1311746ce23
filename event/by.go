package event

import "strings"

// What can settle a verdict other than a hook, as [Decision.By] and the journal
// name it. A hook is named by its id, which contains no blanks.
const (
	ByUser           = "person"           // you, asked about this call
	ByHookmux        = "hookmux"          // hookmux itself, for its own safety
	ByApprovalPolicy = "approvals.policy" // the setting that says which calls you are asked about
	BySupposed       = "--decision"       // nobody: `hookmux why` supposes the decision
)

const permissionStart = "permission "

// ByPermission returns the name of a saved permission that settles a verdict.
func ByPermission(id string) string { return permissionStart + id }

// PermissionOf returns the id of the permission that settled a verdict; false when none did.
func PermissionOf(by string) (id string, ok bool) { return strings.CutPrefix(by, permissionStart) }
