package wire

import "strconv"

// Class is the authority that a method of the daemon demands of its caller.
type Class int

const (
	// Decide is for the user alone. It is first, so that a method without a class gets the strictest.
	Decide Class = iota
	// Read shows events, state and requests.
	Read
	// Report submits events: hooks and plugins.
	Report
)

func (c Class) String() string {
	switch c {
	case Decide:
		return "decide"
	case Read:
		return "read"
	case Report:
		return "report"
	}
	return "class " + strconv.Itoa(int(c))
}

// Methods is the one table of every method of the daemon, with who may call it. The
// services have what each one does.
var Methods = map[string]Class{
	MethodAccept:           Decide,
	MethodAcceptRestore:    Decide,
	MethodAcceptFollow:     Decide,
	MethodAcceptFirst:      Decide,
	MethodAcceptFile:       Decide,
	MethodNotifyTest:       Decide,
	MethodSessionRename:    Decide,
	MethodSessionForget:    Decide,
	MethodSessionSend:      Decide,
	MethodTSHookRun:        Decide,
	MethodPackAdd:          Decide,
	MethodPackDrop:         Decide,
	MethodStop:             Decide,
	MethodOff:              Decide,
	MethodInstall:          Decide,
	MethodUninstall:        Decide,
	MethodDoctor:           Decide,
	MethodTmux:             Decide,
	MethodOn:               Decide,
	MethodExplainRun:       Decide,
	MethodConfigSet:        Decide,
	MethodHooksAdd:         Decide,
	MethodHooksSet:         Decide,
	MethodHooksDrop:        Decide,
	MethodTrust:            Decide,
	MethodUntrust:          Decide,
	MethodAllow:            Decide,
	MethodPause:            Decide,
	MethodInboxReply:       Decide,
	MethodInboxSkip:        Decide,
	MethodPermissionRemove: Decide,
	MethodAway:             Decide,
	MethodBack:             Decide,
	MethodPIN:              Decide,
	MethodCmuxPermit:       Decide,
	MethodCmuxQuestion:     Decide,
	MethodCmuxPlan:         Decide,
	MethodTerminalAdd:      Decide,
	MethodTerminalRemove:   Decide,
	MethodWebStart:         Decide,
	MethodWebStop:          Decide,
	MethodWebPair:          Decide,
	MethodWebPairConfirm:   Decide,
	MethodWebDeviceRename:  Decide,
	MethodWebDeviceRemove:  Decide,
	MethodWebDeviceScope:   Decide,
	MethodRemoteAdd:        Decide,
	MethodRemoteRemove:     Decide,
	MethodRemoteAccept:     Decide,

	MethodFleetInit:   Decide,
	MethodFleetJoin:   Decide,
	MethodFleetLeave:  Decide,
	MethodFleetInvite: Decide,
	MethodFleetRemove: Decide,
	MethodFleetStatus: Read,
	MethodFleetList:   Read,
	MethodFleetLog:    Read,
	MethodFleetPush:   Decide,
	MethodFleetPolicy: Read,

	MethodAcceptLook:   Read,
	MethodNotifyStatus: Read,
	MethodSessions:     Read,
	MethodSession:      Read,

	MethodProjectSessions: Read,
	MethodProjectHistory:  Read,
	MethodProjectBudgets:  Read,
	MethodBudgetAdd:       Decide,
	MethodBudgetRemove:    Decide,
	MethodBudgetLift:      Decide,

	MethodSessionResume:  Read,
	MethodTSHooks:        Read,
	MethodInfo:           Read,
	MethodStream:         Read,
	MethodQuery:          Read,
	MethodExplain:        Read,
	MethodConfigGet:      Read,
	MethodHooksList:      Read,
	MethodTrustLook:      Read,
	MethodStats:          Read,
	MethodInboxItems:     Read,
	MethodInboxStream:    Read,
	MethodPermissions:    Read,
	MethodCmuxList:       Read,
	MethodCmuxJump:       Read,
	MethodWhoami:         Read,
	MethodTerminals:      Read,
	MethodWebStatus:      Read,
	MethodWebPairWait:    Read,
	MethodWebDevices:     Read,
	MethodUsage:          Read,
	MethodTelemetryCheck: Read,
	MethodUsageLimits:    Read,
	MethodBudgets:        Read,

	MethodHosts:         Read,
	MethodRemoteConnect: Read,

	// These are authorised by a signature, regardless of who calls.
	MethodRemoteHello:  Report,
	MethodRemoteFollow: Report,
	MethodRemoteCall:   Report,
	MethodRemoteAnswer: Report,

	MethodRenew:    Report,
	MethodPush:     Report,
	MethodOutbox:   Report,
	MethodWanted:   Report,
	MethodCmuxPush: Report,

	MethodUsageWindows: Report,
}

// AsksUser reports whether a method may wait for you at your terminal, where you may have to type
// something before it is answered.
func AsksUser(method string) bool {
	class, known := Methods[method]
	return known && class == Decide
}
