package hub

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// A newer client tells an older hub, by its version in the frame, that it was
// replaced on disk. The hub then makes room, never while a request waits; the
// next hook starts the new one. It never goes for an older client, nor on the
// client's word alone: the program on disk must really be newer.
func (h *Hub) metNewer(theirs string) {
	if h.program == "" || version.Compare(theirs, h.version) <= 0 || !h.renewing.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer h.renewing.Store(false)
		result := h.renew(theirs)
		if result.Leaving {
			h.Stop(result.Why)
			return
		}
		// Asked again by every frame of a newer client: once in a while is
		// enough to look at the disk.
		select {
		case <-h.ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}()
}

func (h *Hub) renew(theirs string) wire.RenewResult {
	if version.Compare(theirs, h.version) <= 0 {
		return wire.RenewResult{Why: "the hub is " + h.version + ", which is not older than " + theirs}
	}
	if h.pipeline.Waiting() > 0 {
		return wire.RenewResult{Why: "requests are waiting for a decision; ask again later"}
	}
	ctx, cancel := context.WithTimeout(h.ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, h.program, "--version").Output()
	if err != nil {
		return wire.RenewResult{Why: h.program + " does not run: " + err.Error()}
	}
	if h.pipeline.Waiting() > 0 {
		return wire.RenewResult{Why: "requests are waiting for a decision; ask again later"}
	}
	fields := strings.Fields(string(out))
	if len(fields) == 0 || version.Compare(fields[len(fields)-1], h.version) <= 0 {
		return wire.RenewResult{Why: "the program on disk is not newer than this hub"}
	}
	return wire.RenewResult{Leaving: true, Why: "makes room for " + fields[len(fields)-1]}
}
