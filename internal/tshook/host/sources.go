package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// ReadFolder looks whether the user's folder has other files than last time.
func (s *Service) ReadFolder() {
	_, err := os.ReadDir(s.folderPath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		// A folder that can't be read is no reason to leave guards out.
		s.deps.Problems.Raise("modules-folder",
			"hooks in TypeScript are as they were last seen: "+err.Error(), "make "+s.folderPath()+" readable")
		return
	}
	if s.deps.Problems.Any() {
		s.deps.Problems.Clear("modules-folder")
	}
	var names []string
	for _, path := range sources.FolderTSHooks(s.folderPath(), s.options.Accepted) {
		names = append(names, filepath.Base(path))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(names, s.folder) {
		s.folder = names
		s.files.noteChange()
	}
}

func (s *Service) folderPath() string { return filepath.Join(s.deps.Dirs.Config, "hooks") }

// folderFiles returns the files of the user's folder.
func (s *Service) folderFiles() []wantedFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []wantedFile
	for _, name := range s.folder {
		path := filepath.Join(s.folderPath(), name)
		list = append(list, wantedFile{id: hook.TSHookID(name), path: path, scope: registry.Global, ofUser: true})
	}
	return list
}

// projectFiles returns the files of a project's folder, as they were trusted.
func projectFiles(f *trust.TrustedContent) []wantedFile {
	if f == nil {
		return nil
	}
	var list []wantedFile
	for _, path := range f.TSHooks() {
		id := hook.TSHookID(trust.TSHookDir + "/" + filepath.Base(path))
		list = append(list, wantedFile{id: id, path: path, scope: registry.Project, trusted: f})
	}
	return list
}

// settingsFiles returns the files the setting modules names.
func (s *Service) settingsFiles(settings *config.Settings) []wantedFile {
	var list []wantedFile
	for _, written := range settings.Strings(config.Modules) {
		path := s.expandPath(written)
		if !filepath.IsAbs(path) {
			s.deps.Problems.Raise("place:modules:"+written,
				"modules: "+written+" is relative, and nobody knows to what",
				"write it with an absolute path or ~/: `hookmux config set modules …`")
			continue
		}
		list = append(list, wantedFile{id: hook.TSHookID(written), path: path, scope: registry.Global, ofUser: true})
	}
	return list
}

func (s *Service) expandPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(s.deps.Dirs.Home, rest)
	}
	return filepath.Clean(path)
}
