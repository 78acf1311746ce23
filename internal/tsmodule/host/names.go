package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// A file that is named and is not there refuses every tool call until it is:
// whoever mistypes its name hears of it at once instead.

// isModule says what keeps a path from being a hook's.
func isModule(path string) error {
	if !trust.IsModuleName(filepath.Base(path)) {
		return errors.New("is no TypeScript or JavaScript file (.ts, .js)")
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("is not there: %s; write the file first, or correct its name", path)
	case err != nil:
		return fmt.Errorf("cannot be read: %w", err)
	case !st.Mode().IsRegular():
		return fmt.Errorf("is no file: %s; name a TypeScript or JavaScript file", path)
	}
	return nil
}

// moduleSetting checks a new value of the setting modules. What it named before
// may stay, so that one missing file does not stand in the way of the others.
func (h *Hub) moduleSetting(value json.RawMessage) error {
	key, _ := config.Find(config.Modules)
	raw, err := key.FromText(textOf(value))
	if err != nil {
		return err
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	before := h.rules.config.Settings().Strings(config.Modules)
	for _, written := range list {
		path := h.modules.expand(written)
		if !filepath.IsAbs(path) {
			return fmt.Errorf("modules: %q is relative, and hookmux runs in no folder of yours; write it with an absolute path or ~/", written)
		}
		if slices.Contains(before, written) {
			continue
		}
		if err := isModule(path); err != nil {
			return fmt.Errorf("modules: %q %w", written, err)
		}
	}
	return nil
}

// moduleTarget makes what a person wrote behind --target into what stands in
// the file of hooks: absolute in the user's, from the project's root in a
// project's.
func (h *Hub) moduleTarget(reg *hook.Registration, scope, cwd string) error {
	if reg.Handler != "module" {
		return nil
	}
	path := h.modules.expand(reg.Target)
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(cwd) {
			return fmt.Errorf("target %q is relative to an unknown folder", reg.Target)
		}
		path = filepath.Join(cwd, path)
	}
	if err := isModule(path); err != nil {
		return fmt.Errorf("target %q %w", reg.Target, err)
	}
	if strings.HasPrefix(reg.Target, "~/") {
		return nil
	}
	if scope == registry.Global {
		reg.Target = path
		return nil
	}
	if rel, err := filepath.Rel(h.rules.registry.RootFor(cwd), registry.RealPath(path)); err == nil && filepath.IsLocal(rel) {
		reg.Target = "./" + rel
	} else {
		reg.Target = path
	}
	return nil
}
