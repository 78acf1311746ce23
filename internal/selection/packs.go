package selection

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// packMethods returns the methods for packs of rules. Reading needs no daemon.
func (r *edits) packMethods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodPackAdd:  {Run: r.addPack},
		wire.MethodPackDrop: {Run: r.removePack},
	}
}

func (r *edits) addPack(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.PackAddParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	pack, origin, err := packstore.FromParams(&p)
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	list, err := pack.CheckRules()
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	kept, err := packstore.New(r.Dirs.State).Add(pack, origin, p.Replaces, time.Now())
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.views.Forget()
	return wire.PackResult{Name: kept.Name, Version: kept.Version, Hash: kept.Hash, Rules: len(list)}, nil
}

func (r *edits) removePack(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.PackDropParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if err := packstore.New(r.Dirs.State).Remove(p.Name); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	r.views.Forget()
	return wire.PackResult{Name: p.Name}, nil
}
