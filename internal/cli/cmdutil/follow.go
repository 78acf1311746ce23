package cmdutil

import (
	"context"
	"errors"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// ErrEnough ends following: there is as much as was asked for.
var ErrEnough = errors.New("enough")

// FollowStream runs a stream, and again whenever the daemon is gone (upgraded, stopped or
// died; the next event starts one), until ctx ends, there is enough, or the daemon says no.
func FollowStream(ctx context.Context, stream func() error) error {
	for {
		err := stream()
		var refused *client.RefusedError
		var rpc *wire.Error
		switch {
		case errors.Is(err, ErrEnough), ctx.Err() != nil:
			return nil
		case errors.As(err, &refused), errors.As(err, &rpc):
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}
