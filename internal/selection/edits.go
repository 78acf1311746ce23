package selection

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/guards"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// SettingOf returns a setting as it goes over the wire.
func SettingOf(e config.Entry) wire.Setting {
	value, _ := json.Marshal(config.Format(e.Shown()))
	if list, ok := e.Value.([]string); ok {
		value, _ = json.Marshal(append([]string{}, list...))
	}
	if ms, ok := e.Value.(config.Milliseconds); ok {
		value, _ = json.Marshal(ms)
	}
	return wire.Setting{Key: e.Key.Name, Value: value, Default: e.Default, Origin: string(e.Origin.Layer),
		File: e.Origin.File, Doc: e.Key.Doc}
}

// edits answers programs that show and change settings, hooks, trust, packs, pauses.
type edits struct {
	Options
	Config     *config.Loader
	Registry   *registry.Registry
	Trust      *trust.Store
	Pauses     *Pauses
	sources    *sources.Sources
	handlers   handler.Deps
	allowances allowances
	lifts      *budget.Lifts
	acceptance *Acceptance
	views      views
	editing    *sync.Mutex // one edit at a time
}

func (r *edits) listSettings(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfigListParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	root := r.Registry.FindProject(p.Cwd)
	list := []wire.Setting{}
	for _, e := range r.Config.For(root, isTrusted(r.Trust, root)).List() {
		s := SettingOf(e)
		if config.Sealed(s.Key) {
			s = r.Proofs().ShowProof(s)
		}
		list = append(list, s)
	}
	return list, nil
}

func (r *edits) changeSetting(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.ConfigSetParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.Key == config.ApprovalsPIN {
		return nil, wire.Errorf(wire.CodeParams, "%s asks for the PIN itself; use `hookmux config set %s on`",
			p.Key, p.Key)
	}
	if config.Sealed(p.Key) {
		return r.changeSealed(&p, peer)
	}
	if p.Key == config.Modules && p.Value != nil {
		if err := r.TSHooks.CheckSetting(textOf(p.Value)); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "%v", err)
		}
	}
	layer, root := config.User, ""
	if p.Project != "" {
		layer, root = config.Project, r.Registry.RootFor(p.Project)
	}
	if err := r.setConfig(layer, root, p.Key, p.Value); err != nil {
		if broken := (*config.BrokenFileError)(nil); errors.As(err, &broken) { // what was asked for is right
			return nil, wire.Errorf(wire.CodeConflict, "%v", err)
		}
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	r.SettingsChanged() // what is switched off is forgotten at once
	e, ok := r.Config.For(root, isTrusted(r.Trust, root)).Get(p.Key)
	if !ok {
		return nil, wire.Errorf(wire.CodeParams, "%v", config.Unknown(p.Key))
	}
	return SettingOf(e), nil
}

// changeSealed changes a setting that the daemon keeps under a seal.
func (r *edits) changeSealed(p *wire.ConfigSetParams, peer proc.Cred) (any, *wire.Error) {
	key, _ := config.Find(p.Key)
	if p.Project != "" {
		return nil, wire.Errorf(wire.CodeParams, "%s cannot be set by a project; set it with `hookmux config set %s`",
			p.Key, p.Key)
	}
	var value any
	if p.Value != nil {
		raw, err := key.FromText(textOf(p.Value))
		if err == nil {
			value, err = key.Parse(raw)
		}
		if err != nil {
			return nil, wire.Errorf(wire.CodeParams, "%v", err)
		}
	}
	if bad := r.Proofs().SetProof(p.Key, value, p.PIN, peer); bad != nil {
		return nil, bad
	}
	e, _ := r.Config.Settings().Get(p.Key)
	return r.Proofs().ShowProof(SettingOf(e)), nil
}

// setConfig changes a setting and lets it count at once. In a trusted project
// trust follows exactly that change.
func (r *edits) setConfig(layer config.Layer, root, key string, value json.RawMessage) error {
	r.editing.Lock()
	defer r.editing.Unlock()
	defer r.views.Forget()
	var done config.Change
	var err error
	if value == nil {
		done, err = r.Config.Unset(layer, root, key)
	} else {
		done, err = r.Config.Set(layer, root, key, textOf(value))
	}
	if err == nil && root == "" && r.Accepted != nil && key == config.Modules {
		r.acceptance.acceptNamed(r.Config.AcceptedTSHooks())
	}
	if err == nil && root != "" && r.Trust.Known(root) {
		_ = r.Trust.Retrust(root, done.File, done.Before, done.After) // else status says what is not trusted
	}
	return err
}

// textOf returns a JSON value as you would type it.
func textOf(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// allowRule lets one rule of a guard pass.
func (r *edits) allowRule(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.AllowParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	locked, isRule := r.findRule(p.Rule)
	if locked {
		return nil, wire.Errorf(wire.CodeParams, "%s is a rule of this machine's administrator: it has no exceptions",
			p.Rule)
	}
	guardRule, _, oneCommand := strings.Cut(p.Rule, ":")
	if p.Once && oneCommand {
		return nil, wire.Errorf(wire.CodeParams, "--once takes a rule alone: %s", guardRule)
	}
	if !knownRule(guardRule) && !isRule {
		return nil, wire.Errorf(wire.CodeParams, "there's no rule %q; `hookmux guard list --rules` and "+
			"`hookmux rules list` list them all", p.Rule)
	}
	type said struct {
		Text string `json:"text"`
	}
	if p.Once {
		r.allowances.allowOnce(p.Rule)
		return said{"the next call that " + p.Rule + " stops passes, within ten minutes"}, nil
	}
	allowed := r.Config.Settings().Strings(config.GuardAllow)
	had := slices.Contains(allowed, p.Rule)
	if p.Drop {
		once := r.allowances.takeBack(p.Rule)
		if !had && !once {
			return said{p.Rule + " had no exception"}, nil
		}
		allowed = slices.DeleteFunc(allowed, func(s string) bool { return s == p.Rule })
	} else if !had {
		allowed = append(allowed, p.Rule)
	}
	b, _ := json.Marshal(allowed)
	if err := r.setConfig(config.User, "", config.GuardAllow, b); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	if p.Drop {
		return said{"removed the exception for " + p.Rule}, nil
	}
	return said{"added an exception: " + p.Rule + " stops nothing now; `hookmux guard exception remove " + p.Rule +
		"` removes it"}, nil
}

func knownRule(rule string) bool {
	for _, g := range guards.List() {
		for _, r := range g.Rules {
			if r.ID == rule {
				return true
			}
		}
	}
	return false
}

// acceptFile accepts a file that one of your commands wrote into the folder of hooks or of
// rules.
func (r *edits) acceptFile(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.AcceptFileParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.LogOnly {
		if bad := r.logNew(p.File); bad != nil {
			return nil, bad
		}
		return map[string]bool{"ok": true}, nil
	}
	if r.Accepted == nil {
		return map[string]bool{"ok": true}, nil
	}
	if !r.Accepted.IsNew(p.File) {
		return map[string]bool{"ok": true}, nil // the daemon that this command started took it
	}
	if filepath.Dir(p.File) == r.Accepted.RulesFolder() {
		if err := onlyTightens(p.File, []byte(p.Content)); err != nil {
			return nil, wire.Errorf(wire.CodeConflict, "%v", err)
		}
	} else if filepath.Dir(p.File) == r.Accepted.ProgramsFolder() {
		if weaker := ruleset.WeakerPrograms(p.File, nil, []byte(p.Content)); len(weaker) > 0 {
			return nil, wire.Errorf(wire.CodeConflict, "%s; `hookmux config accept` shows the file and makes it active", weaker[0])
		}
	} else if filepath.Dir(p.File) != r.Accepted.HooksFolder() {
		return nil, wire.Errorf(wire.CodeParams, "%s is not a new file in %s", p.File, r.Accepted.HooksFolder())
	}
	if err := r.Accepted.AcceptFile(p.File, []byte(p.Content)); err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.acceptance.applyAccepted()
	return map[string]bool{"ok": true}, nil
}
