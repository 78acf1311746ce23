package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/tshook"
)

// A file that is named and doesn't exist denies every tool call until it does. So a mistyped
// name is reported at once instead.

// checkFile says what keeps a path from being a hook's.
func checkFile(path string) error {
	if !trust.IsTSHookName(filepath.Base(path)) {
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

// CheckSetting checks a new value of the setting modules, as text. What it named before may
// stay, so that one missing file doesn't block the others.
func (s *Service) CheckSetting(text string) error {
	key, _ := config.Find(config.Modules)
	raw, err := key.FromText(text)
	if err != nil {
		return err
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	before := s.options.Selection.Settings().Strings(config.Modules)
	for _, written := range list {
		path := s.expandPath(written)
		if !filepath.IsAbs(path) {
			return fmt.Errorf("modules: %q is relative; "+
				"write it with an absolute path or ~/", written)
		}
		if slices.Contains(before, written) {
			continue
		}
		if err := checkFile(path); err != nil {
			return fmt.Errorf("modules: %q %w", written, err)
		}
	}
	return nil
}

// CheckSyntax returns the first error in a hook's file, or in one it imports.
func (s *Service) CheckSyntax(path string) error { return tshook.CheckSyntax(path) }

// ResolveTarget turns what the user wrote after --target into what the file of hooks has:
// absolute in the user's, from the project's root in a project's. rootFor finds the root of
// the project a folder is in.
func (s *Service) ResolveTarget(reg *hook.Registration, scope, cwd string, rootFor func(cwd string) string) error {
	if reg.Handler != hook.HandlerTypeScript {
		return nil
	}
	path := s.expandPath(reg.Target)
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(cwd) {
			return fmt.Errorf("target %q is relative to an unknown folder", reg.Target)
		}
		path = filepath.Join(cwd, path)
	}
	if err := checkFile(path); err != nil {
		return fmt.Errorf("target %q %w", reg.Target, err)
	}
	if err := tshook.CheckSyntax(path); err != nil {
		return fmt.Errorf("target %q does not load: %w", reg.Target, err)
	}
	if strings.HasPrefix(reg.Target, "~/") {
		return nil
	}
	if scope == registry.Global {
		reg.Target = path
		return nil
	}
	if rel, err := filepath.Rel(rootFor(cwd), paths.Real(path)); err == nil && filepath.IsLocal(rel) {
		reg.Target = "./" + rel
	} else {
		reg.Target = path
	}
	return nil
}
