package services

import "context"

type dryRunKey struct{}

// WithDryRun marks a context in which guards are only asked what they would
// say: nothing may be used up.
func WithDryRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, dryRunKey{}, true)
}

// IsDryRun reports whether nothing may be used up.
func IsDryRun(ctx context.Context) bool { return ctx.Value(dryRunKey{}) != nil }
