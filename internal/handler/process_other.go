//go:build !unix

package handler

import (
	"context"
	"errors"
)

func (p *Processes) run(context.Context, spec) (Output, error) {
	return Output{}, errors.New("commands and scripts run on Linux and macOS only; use a built-in")
}
