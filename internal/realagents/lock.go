package realagents

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// lockPath takes a lock that ends with the process, so a killed install never blocks the next.
// waiting is called once if another process holds it.
func lockPath(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err = files.TryLock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, files.ErrHeld) {
			f.Close()
			return nil, err
		}
		if !told {
			waiting()
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
