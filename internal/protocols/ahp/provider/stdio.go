package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/hookmux/hookmux/internal/protocols/ahp"
)

// ServeStdio reads messages, a line each, until there are no more, and waits for what is
// open then: an agent may send one message and close its end.
func (p *Provider) ServeStdio(ctx context.Context, from io.Reader, to io.Writer) error {
	var (
		writing sync.Mutex
		open    sync.WaitGroup
		broken  error
	)
	write := func(line []byte) {
		writing.Lock()
		defer writing.Unlock()
		if broken == nil {
			_, broken = to.Write(line)
		}
	}
	reader := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readMessage(reader)
		switch {
		case errors.Is(err, errTooLong):
			write((&ahp.Refusal{ID: []byte("null"), Code: ahp.CodeNoMessage, Text: err.Error()}).Line())
			continue
		case len(bytes.TrimSpace(line)) > 0:
			if answer := p.Take(ctx, line); answer != nil {
				open.Go(func() { write(answer()) })
			}
		}
		if err != nil {
			open.Wait()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, broken) // nobody writes any more
		}
	}
}

var errTooLong = errors.New("the message is longer than 4 MiB")

// readMessage reads a line. One that is too long is passed over to its end.
func readMessage(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := reader.ReadSlice('\n')
		if long = long || len(line)+len(part) > ahp.MaxMessage; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong // its end comes with the next look
		default:
			return line, err
		}
	}
}
