package acp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
)

// Proxy passes lines between an editor and an agent.
type Proxy struct {
	Conversation *Conversation
	Hub          Hub

	FromEditor io.Reader
	ToEditor   io.Writer
	FromAgent  io.Reader
	ToAgent    io.WriteCloser

	desk desk
}

// maxRead is the longest line that is looked into. A longer one passes unread; a
// request for permission in it is the editor's to answer.
const maxRead = 16 << 20

// Run passes lines until the agent has said everything.
func (p *Proxy) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	toEditor, toAgent := &lineWriter{to: p.ToEditor}, &lineWriter{to: p.ToAgent}
	p.desk = desk{hub: p.Hub, toAgent: toAgent.writeLine, toEditor: toEditor.writeLine}
	defer p.desk.closeAll()
	go func() {
		// The editor may go on holding its end open when the agent is gone, so
		// that nobody waits for this.
		_ = passLines(p.FromEditor, toAgent, func(line []byte) bool { return p.fromEditor(line) })
		_ = p.ToAgent.Close() // it has all there was
	}()
	err := passLines(p.FromAgent, toEditor, func(line []byte) bool { return p.fromAgent(ctx, line) })
	for _, r := range p.Conversation.Close() {
		p.Hub.Report(r, nil)
	}
	return err
}

// fromEditor looks at a line of the editor and reports whether it goes on.
func (p *Proxy) fromEditor(line []byte) bool {
	m, ok := ReadMessage(line)
	if !ok {
		return true
	}
	step := p.Conversation.FromEditor(&m)
	p.reportAll(step)
	if step.Cancelled != "" {
		p.desk.cancelSession(step.Cancelled)
	}
	if step.Answers == "" {
		return true
	}
	request, withdraw, pass := p.desk.answeredByEditor(step.Answers)
	if request != nil {
		// The hub hears of the answer before it is hung up on.
		p.Hub.Report(p.Conversation.PermissionEnded(request, &m), withdraw)
	}
	return pass
}

// fromAgent looks at a line of the agent and reports whether it goes on.
func (p *Proxy) fromAgent(ctx context.Context, line []byte) bool {
	m, ok := ReadMessage(line)
	if !ok {
		return true
	}
	step := p.Conversation.FromAgent(&m)
	p.reportAll(step)
	if step.Permission != nil {
		p.desk.take(ctx, step.Permission, line)
		return false
	}
	if step.Withdrawn != "" {
		return p.desk.withdraw(step.Withdrawn)
	}
	return true
}

func (p *Proxy) reportAll(step Step) {
	for _, r := range step.Reports {
		p.Hub.Report(r, nil)
	}
}

// passLines passes lines on until there are no more. look sees each whole line
// and reports whether it goes on; it may keep the line. An end without a line
// feed passes as it is.
func passLines(from io.Reader, to *lineWriter, look func(line []byte) bool) error {
	reader := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readLine(reader)
		if len(line) > maxRead {
			to.writeBegin(line)
			err = to.copyRest(reader, err)
		} else if len(line) > 0 && look(line) {
			to.writeLine(line)
		}
		if err == nil {
			err = to.failure()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line with its line feed; of one that is longer than maxRead a
// part, with no error.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxRead {
			return line, nil
		}
	}
}

// lineWriter writes whole lines for several goroutines. After an error it writes
// nothing more.
type lineWriter struct {
	mu  sync.Mutex
	to  io.Writer
	err error
}

func (w *lineWriter) writeLine(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(line)
}

func (w *lineWriter) write(line []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(line)
	}
}

// writeBegin writes the beginning of a line and keeps others out until copyRest.
func (w *lineWriter) writeBegin(part []byte) {
	w.mu.Lock()
	w.write(part)
}

// copyRest passes the rest of a line, after writeBegin.
func (w *lineWriter) copyRest(reader *bufio.Reader, err error) error {
	defer w.mu.Unlock()
	for err == nil {
		var part []byte
		part, err = reader.ReadSlice('\n')
		w.write(part)
		if err == nil {
			return nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
	}
	return err
}

func (w *lineWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
