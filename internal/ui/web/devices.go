package web

import (
	"encoding/json"
	"strings"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// device is a browser that you paired.
type device = devices.Device

// browsers returns the devices that are browsers: other machines are paired as well.
func (s *Service) browsers() []device {
	var list []device
	for _, one := range s.Devices.List() {
		if one.Kind == "" {
			list = append(list, one)
		}
	}
	return list
}

// browser finds a browser by its id.
func (s *Service) browser(id string) (device, bool) {
	one, ok := s.Devices.Get(id)
	return one, ok && one.Kind == ""
}

func (s *Service) devicesMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	return s.deviceInfos(), nil
}

// info returns a device as commands show it.
func (s *Service) info(one *device) wire.WebDevice {
	if one.Kind == devices.Host {
		return one.Info(s.Machines.Links(one.ID))
	}
	return one.Info(s.audience.count(one.ID))
}

func (s *Service) deviceInfos() []wire.WebDevice {
	list := []wire.WebDevice{}
	for _, one := range s.Devices.List() {
		list = append(list, s.info(&one))
	}
	return list
}

// readDevice reads parameters that name a device.
func (s *Service) readDevice(params json.RawMessage) (wire.WebDeviceParams, device, *wire.Error) {
	var p wire.WebDeviceParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return p, device{}, bad
	}
	one, bad := s.Devices.Find(p.Device)
	return p, one, bad
}

func (s *Service) renameMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	p, one, bad := s.readDevice(params)
	if bad != nil {
		return nil, bad
	}
	if strings.TrimSpace(p.Name) == "" {
		return nil, wire.Errorf(wire.CodeParams, "a device needs a name")
	}
	if err := s.Devices.Update(one.ID, func(d *device) { d.Name = devices.CleanName(p.Name, "browser") }); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	one, _ = s.Devices.Get(one.ID)
	return s.info(&one), nil
}

func (s *Service) removeMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	_, one, bad := s.readDevice(params)
	if bad != nil {
		return nil, bad
	}
	if err := s.removeDevice(one); err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the device is removed, but may come back when the daemon restarts: %v", err)
	}
	return one.Info(0), nil
}

// removeDevice ends what a device does, at once.
func (s *Service) removeDevice(one device) error {
	err := s.Devices.Drop(one.ID)
	s.audience.endPages(func(p *page) bool { return p.device == one.ID })
	s.Machines.EndLinks(one.ID)
	s.record("removed", one)
	return err
}

func (s *Service) scopeMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	p, one, bad := s.readDevice(params)
	if bad != nil {
		return nil, bad
	}
	if p.Scope != wire.ScopeRead && p.Scope != wire.ScopeAnswer {
		return nil, wire.Errorf(wire.CodeParams, "%q isn't a scope; use %s or %s", p.Scope, wire.ScopeRead, wire.ScopeAnswer)
	}
	if err := s.Devices.Update(one.ID, func(d *device) { d.Scope = p.Scope }); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	// Pages come back at once, with what they may do now.
	s.audience.endPages(func(page *page) bool { return page.device == one.ID })
	s.Machines.EndLinks(one.ID)
	one, _ = s.Devices.Get(one.ID)
	s.record("scope "+p.Scope, one)
	return one.Info(0), nil
}
