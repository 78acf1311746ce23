package selection

import (
	"maps"

	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods are what programs can ask of hooks, settings and trust.
func (r *Service) Methods() map[string]services.Method {
	m := methods{r}
	table := map[string]services.Method{
		wire.MethodConfigGet: services.Read(m.listSettings),
		wire.MethodConfigSet: services.Decide(m.changeSetting),
		wire.MethodHooksList: services.Read(m.listHooks),
		wire.MethodHooksAdd:  services.Decide(m.addHook),
		wire.MethodHooksSet:  services.Decide(m.changeHook),
		wire.MethodHooksDrop: services.Decide(m.removeHook),
		wire.MethodTrustLook: services.Read(m.lookAtTrust),
		wire.MethodTrust:     services.Decide(m.trustProject),
		wire.MethodUntrust:   services.Decide(m.untrustProject),
		wire.MethodAllow:     services.Decide(m.allowRule),
		wire.MethodNap:       services.Decide(m.startNap),
	}
	maps.Copy(table, m.confirmMethods())
	maps.Copy(table, m.packMethods())
	return table
}
