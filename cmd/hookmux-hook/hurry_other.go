//go:build !unix

package main

import (
	"io"

	"github.com/hookmux/hookmux/agent/neutral"
)

func (c *call) tryQuickly(io.Reader) (neutral.Answer, bool) { return neutral.Answer{}, false }

func untilIdle(stdin io.Reader) io.Reader { return stdin }
