package recorder

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// OpenStored reads the journal without a daemon. The reader is nil where nothing was ever
// recorded. Call the function when you're done.
func OpenStored(dirs paths.Dirs, catalogue *agent.Catalogue) (*Reader, func(), error) {
	j, err := journal.OpenReadOnly(filepath.Join(dirs.OpenState(), journalFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, func() {}, nil
	case err != nil:
		return nil, nil, err
	}
	var open atomic.Pointer[journal.Journal]
	open.Store(j)
	caughtUp := make(chan struct{})
	close(caughtUp)
	r := &Reader{journal: &open, catalogue: catalogue, caughtUp: caughtUp, maxPage: maxPage,
		indexFile: indexPath(dirs), maxUnindexed: maxUnindexed}
	return r, func() { _ = j.Close() }, nil
}
