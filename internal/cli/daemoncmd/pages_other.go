//go:build !linux

package daemoncmd

import "context"

func releasePages(context.Context) {}
