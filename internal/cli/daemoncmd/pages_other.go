//go:build !linux

package daemoncmd

import "context"

func releaseStart(context.Context) {}
