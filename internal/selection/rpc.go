package selection

import (
	"maps"

	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods returns what programs can ask of hooks, settings and trust.
func (r *Service) Methods() map[string]services.Method {
	m := r.edits
	table := map[string]services.Method{
		wire.MethodConfigGet:  {Run: m.listSettings},
		wire.MethodConfigSet:  {Run: m.changeSetting},
		wire.MethodHooksList:  {Run: m.listHooks},
		wire.MethodHooksAdd:   {Run: m.addHook},
		wire.MethodHooksSet:   {Run: m.changeHook},
		wire.MethodHooksDrop:  {Run: m.removeHook},
		wire.MethodTrustLook:  {Run: m.lookAtTrust},
		wire.MethodTrust:      {Run: m.trustProject},
		wire.MethodUntrust:    {Run: m.untrustProject},
		wire.MethodAllow:      {Run: m.allowRule},
		wire.MethodPause:      {Run: m.startPause},
		wire.MethodAcceptFile: {Run: m.acceptFile},
	}
	maps.Copy(table, r.Acceptance.methods())
	maps.Copy(table, m.packMethods())
	maps.Copy(table, m.budgetMethods())
	return table
}
