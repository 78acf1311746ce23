package acp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Proxy passes lines between an editor and an agent.
type Proxy struct {
	Conversation *Conversation
	Daemon       Daemon

	FromEditor io.Reader
	ToEditor   io.Writer
	FromAgent  io.Reader
	ToAgent    io.WriteCloser

	// MaxLine is how long a line may be, 0 for what is usual.
	MaxLine int
	// OnDropped is called with a line that isn't passed on because it can't be read as one
	// message; may be nil.
	OnDropped func(from string, why error)

	requests openRequests
}

// maxLine is how long a line may be. A longer one can't be checked as a whole, and nothing
// passes unchecked: it ends the conversation.
const maxLine = 256 << 20

// Run passes lines until the agent has said everything.
func (p *Proxy) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	toEditor, toAgent := &lineWriter{to: p.ToEditor}, &lineWriter{to: p.ToAgent}
	p.requests = openRequests{daemon: p.Daemon, toAgent: toAgent.writeLine, toEditor: toEditor.writeLine,
		given: p.Conversation.PermissionGiven}
	defer p.requests.closeAll()
	go func() {
		// The editor may keep its end open when the agent is gone, so nothing waits
		// for this.
		_ = p.passLines(p.FromEditor, toAgent, p.readable("the editor", toEditor,
			func(line []byte) bool { return p.eachFromEditor(line, toAgent) }))
		_ = p.ToAgent.Close() // it has all there was
	}()
	err := p.passLines(p.FromAgent, toEditor, p.readable("the agent", toAgent,
		func(line []byte) bool { return p.eachFromAgent(ctx, line, toEditor) }))
	for _, r := range p.Conversation.Close() {
		p.Daemon.Report(r, nil)
	}
	return err
}

// readable lets look see only lines that are exactly one message. Others aren't passed on,
// and the sender gets an error if an answer can be addressed to it.
func (p *Proxy) readable(from string, back *lineWriter, look func(line []byte) bool) func(line []byte) bool {
	return func(line []byte) bool {
		why := checkLine(line)
		if why == nil {
			return look(line)
		}
		if p.OnDropped != nil {
			p.OnDropped(from, why)
		}
		for _, id := range addressed(line) {
			back.writeLine(errorLine(id, codeInvalid,
				"hookmux: the line was not passed on, it is not one message: "+why.Error()))
		}
		return false
	}
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
		p.requests.cancelSession(step.Cancelled)
	}
	if step.Answers == "" {
		return true
	}
	request, withdraw, pass := p.requests.answeredByEditor(step.Answers)
	if request != nil {
		// The daemon gets the answer before the connection to it is closed.
		p.Daemon.Report(p.Conversation.PermissionEnded(request, &m), withdraw)
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
		p.requests.askDaemon(ctx, step.Permission, line)
		return false
	}
	if step.Withdrawn != "" {
		return p.requests.withdraw(step.Withdrawn)
	}
	return true
}

func (p *Proxy) reportAll(step Step) {
	for _, r := range step.Reports {
		p.Daemon.Report(r, nil)
	}
}

// eachFromEditor takes a line of several messages apart if one of them answers a request that
// is open here.
func (p *Proxy) eachFromEditor(line []byte, to *lineWriter) bool {
	batch := readBatch(line)
	if !slices.ContainsFunc(batch, func(one []byte) bool {
		m, ok := ReadMessage(one)
		return ok && m.IsResponse() && p.requests.isOpen(m.Key())
	}) {
		return p.fromEditor(line)
	}
	for _, one := range batch {
		if p.fromEditor(one) {
			to.writeLine(one)
		}
	}
	return false
}

// eachFromAgent takes a line of several messages apart if guards decide about one of them.
func (p *Proxy) eachFromAgent(ctx context.Context, line []byte, to *lineWriter) bool {
	batch := readBatch(line)
	if !slices.ContainsFunc(batch, func(one []byte) bool {
		m, ok := ReadMessage(one)
		return ok && m.IsRequest() && (m.Method == "session/request_permission" || unattended[m.Method] != "")
	}) {
		return p.fromAgent(ctx, line)
	}
	for _, one := range batch {
		if p.fromAgent(ctx, one) {
			to.writeLine(one)
		}
	}
	return false
}

// passLines passes lines on until there are no more. look sees each whole line and reports
// whether it goes on; it may keep the line. The rest after the last line break is a line,
// too.
func (p *Proxy) passLines(from io.Reader, to *lineWriter, look func(line []byte) bool) error {
	reader := bufio.NewReaderSize(from, 64<<10)
	limit := cmp.Or(p.MaxLine, maxLine)
	for {
		line, err := readLine(reader, limit)
		if len(line) > limit {
			return fmt.Errorf("a message is longer than %d MiB", limit>>20)
		}
		if line = onOneLine(line); len(line) > 0 && look(line) {
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

// readLine reads a line with its line feed; of one that is longer than limit a
// part, with no error.
func readLine(reader *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > limit {
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
	if w.err == nil {
		_, w.err = w.to.Write(line)
	}
}

func (w *lineWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
