package agent

import (
	"fmt"
	"slices"
	"strings"
)

// install says what is wrong with how an agent is written into.
func (c *checker) install(agent string, s *InstallSpec) {
	oneOf := func(path, what, got string, known ...string) {
		if !slices.Contains(known, got) {
			c.at("$.install."+path, "%s: install: %s %q is none of %s", agent, what, got, strings.Join(known, ", "))
		}
	}
	oneOf("way", "way", string(s.Way), string(WayEntries), string(WayFile), string(WayPlugin), string(WayScripts))
	oneOf("missing", "missing", string(s.Missing), string(MissingOpen), string(MissingClosed), string(MissingStuck))
	oneOf("pickup.when", "pickup.when", string(s.Pickup.When), string(PickupNow), string(PickupSession),
		string(PickupStart))
	oneOf("trust.step", "trust step", s.Trust.Step, "", "hash", "folder")
	oneOf("trust.project", "trust step", s.Trust.Project, "", "hash", "folder")
	if s.Pickup.Say == "" {
		c.at("$.install.pickup", "%s: install: pickup.say is missing: say when open sessions see it", agent)
	}
	if s.Trust.Say == "" && s.Trust.Step+s.Trust.Project != "" {
		c.at("$.install.trust", "%s: install: trust.say is missing: say what the user must do", agent)
	}
	if len(s.Places) == 0 {
		c.at("$.install", "%s: install: there is no place to write to", agent)
	}
	for i, p := range s.Places {
		path := fmt.Sprintf("places[%d]", i)
		oneOf(path+".scope", "scope", p.Scope, "user", "project")
		oneOf(path+".format", "format", p.Format, "json", "jsonc", "toml", "yaml", "script")
		if p.Path == "" || strings.ContainsAny(p.Path, "*?[") {
			c.at("$.install."+path+".path", "%s: install: path %q must name one file", agent, p.Path)
		}
		if (p.Format == "script") == s.TakesEntries() {
			c.at("$.install."+path+".format", "%s: install: a plugin and a program per event are scripts, and nothing "+
				"else is", agent)
		}
		if scripts := s.Way == WayScripts; strings.HasSuffix(p.Path, "/"+EventMark) != scripts ||
			len(p.Ends) > 0 && !scripts {
			c.at("$.install."+path+".path", "%s: install: a path that ends in %s, and ends, belong to way scripts",
				agent, EventMark)
		}
	}
	if list := s.Consent; list != nil && (!s.TakesEntries() || list.Path == "" || list.At == "" || list.Event == "" ||
		list.Command == "") {
		c.at("$.install.consent", "%s: install: consent belongs to entries; it needs path, at, event and command",
			agent)
	}
	if len(s.Flat) > 0 && s.Shape != ShapeNested {
		c.at("$.install.flat", "%s: install: flat belongs to shape nested", agent)
	}
	if len(s.Spellings) > 0 && (!s.TakesEntries() || s.Shape != ShapeNested && s.Shape != ShapeFlat) {
		c.at("$.install.spellings", "%s: install: spellings belong to shapes nested and flat", agent)
	}
	if len(s.RequiredFiles) > 0 && s.Way != WayFile {
		c.at("$.install.beside", "%s: install: beside belongs to way file", agent)
	}
	if (s.Plugin != nil) != (s.Way == WayPlugin) {
		c.at("$.install.plugin", "%s: install: plugin belongs to way plugin", agent)
	}
	if s.Way == WayPlugin {
		if s.Plugin != nil {
			oneOf("plugin.broken", "broken", string(s.Plugin.Broken), string(MissingOpen), string(MissingStuck))
			if e := s.Plugin.Enable; e != nil && (e.Path == "" || e.At == "" || len(e.With) == 0) {
				c.at("$.install.plugin.enable", "%s: install: enable needs path, at and with", agent)
			}
		}
		return
	}
	if s.Way == WayScripts {
		oneOf("handler.form", "form", s.Handler.Form, "line")
		return
	}
	oneOf("shape", "shape", string(s.Shape), string(ShapeNested), string(ShapeFlat), string(ShapeList),
		string(ShapeNamed), string(ShapeEvents))
	h := s.Handler
	oneOf("handler.form", "form", h.Form, "exec", "line", "words")
	oneOf("handler.unit", "unit", h.Unit, "s", "ms")
	switch {
	case h.Command == "": // without a key of the limit the agent's own counts
		c.at("$.install.handler", "%s: install: name the key of the command", agent)
	case (h.Form == "exec") != (h.Args != ""):
		c.at("$.install.handler.args", "%s: install: args belongs to form exec", agent)
	case (s.Shape == ShapeList) != (h.Event != ""):
		c.at("$.install.handler.event", "%s: install: event belongs to shape list", agent)
	case h.Inside != "" && s.Shape != ShapeList:
		c.at("$.install.handler.inside", "%s: install: inside belongs to shape list", agent)
	}
}
