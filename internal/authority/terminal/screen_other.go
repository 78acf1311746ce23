//go:build !unix

package terminal

import "github.com/hookmux/hookmux/internal/authority"

func openScreen(string) (screen, error) { return nil, authority.ErrUnknown }

func openWriter(string) (screenWriter, error) { return nil, authority.ErrUnknown }
