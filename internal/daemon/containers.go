package daemon

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// serveContainers opens the socket on which agents in containers report, next to the hook client that
// they run, or closes it.
func (h *Daemon) serveContainers(wanted bool) {
	const problem = "containers"
	switch {
	case wanted == (h.contained != nil):
	case !wanted:
		h.contained.Close()
		h.contained = nil
		h.deps.Problems.Clear(problem)
	default:
		folder := h.deps.Dirs.Containers()
		err := os.MkdirAll(folder, 0o700)
		if err == nil {
			err = fillContainerFolder(folder)
		}
		if err == nil {
			h.contained, err = h.server.ListenForContainers(filepath.Join(folder, "daemon.sock"))
		}
		if err != nil {
			h.deps.Problems.Raise(problem, "agents in containers can't report: "+err.Error(),
				"repair "+folder+", or run hookmux config set containers off")
			return
		}
		h.deps.Problems.Clear(problem)
		go h.contained.Serve() // Close ends it
	}
}

// containerFiles are hook settings in each agent's own format. Mounted where an
// administrator's are, no agent in the container can remove them.
//
//go:embed containers
var containerFiles embed.FS

// fillContainerFolder writes what containers mount.
func fillContainerFolder(folder string) error {
	list, err := containerFiles.ReadDir("containers")
	if err != nil {
		return err
	}
	for _, one := range list {
		text, err := containerFiles.ReadFile("containers/" + one.Name())
		if err != nil {
			return err
		}
		if err := writeInPlace(filepath.Join(folder, one.Name()), text, 0o600); err != nil {
			return err
		}
	}
	return copyHookClient(folder)
}

// writeInPlace writes a file unless it has that text already: a container that mounted the file
// itself would keep seeing the old one if it were replaced.
func writeInPlace(path string, text []byte, mode os.FileMode) error {
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, text) {
		return nil
	}
	if err := files.Write(path, text); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// copyHookClient puts this version's hook client into a folder.
func copyHookClient(folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := launch.HookPath(self)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeInPlace(filepath.Join(folder, filepath.Base(from)), program, 0o700)
}
