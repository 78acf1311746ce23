package cmdutil

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// ReadPayload reads what an agent would send; if you forgot it, it says so instead of
// waiting.
func (app *App) ReadPayload(command string) ([]byte, error) {
	if f, ok := app.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, UsageError("no payload: give it on stdin, as in `hookmux %s < payload.json`", command)
	}
	return io.ReadAll(io.LimitReader(app.Stdin, 16<<20))
}

// IsTerminal reports whether stdin is a terminal.
func (app *App) IsTerminal() bool {
	f, ok := app.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// AskPIN reads a PIN: from the terminal without showing it, else a line of
// stdin.
func (app *App) AskPIN(prompt string, why error) (string, error) {
	if app.IsTerminal() {
		fmt.Fprint(app.Stderr, prompt)
		b, err := term.ReadPassword(int(app.Stdin.(*os.File).Fd()))
		fmt.Fprintln(app.Stderr)
		return string(b), err
	}
	reader, ok := app.Stdin.(*bufio.Reader)
	if !ok {
		reader = bufio.NewReader(app.Stdin)
	}
	line, err := reader.ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line == "" && err != nil {
		return "", FailWith(ExitDenied, why.Error()+"; run it in your terminal, or write the PIN to its stdin")
	}
	return line, nil
}

// ErrDeclined says that the user did not say yes.
var ErrDeclined = FailWith(ExitFailed, "nothing was changed")

// Confirm asks you to say yes; without a terminal, --yes is needed.
func (app *App) Confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !app.IsTerminal() {
		return UsageError("add --yes: %s", question)
	}
	fmt.Fprint(app.Stderr, question+" [y/N] ")
	said, err := app.ReadYes()
	if err != nil {
		return err
	}
	if !said {
		return ErrDeclined
	}
	return nil
}

// ConfirmByCode is Confirm for what the daemon asks for a code about: at a terminal the
// code is the one question.
func (app *App) ConfirmByCode(question string, yes bool) error {
	if app.IsTerminal() {
		return nil
	}
	return app.Confirm(question, yes)
}

// ErrInterrupted says that the user left a question with Ctrl-C.
var ErrInterrupted = FailWith(exitInterrupted, "interrupted")

const exitInterrupted = 130 // as a shell reports it

// ReadYes reads the answer to a question that wants a yes.
func (app *App) ReadYes() (bool, error) {
	word, err := app.ReadWord()
	return word == "y" || word == "yes", err
}

// endOfInput is returned by ReadWord when there's nothing more to read. It's no answer to any
// question; Enter, which is "", can be one.
const endOfInput = "\x04"

// InputEnded reports whether a word of [App.ReadWord] says that nothing more can be read.
func (app *App) InputEnded(word string) bool { return word == endOfInput }

// ReadWord reads the line you type, in lower case. Ctrl-C ends the question at once.
func (app *App) ReadWord() (string, error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	lines := make(chan string, 1)
	go func() { // left behind by an interrupt: the program ends then
		line, err := bufio.NewReader(app.Stdin).ReadString('\n')
		if err != nil && line == "" {
			line = endOfInput
		}
		lines <- line
	}()
	select {
	case line := <-lines:
		return strings.ToLower(strings.TrimSpace(line)), nil
	case <-interrupts:
		fmt.Fprintln(app.Stderr)
		return "", ErrInterrupted
	}
}

// ReadKey asks a question and waits for one key. Esc, Enter and the end of input
// are 0, which is no answer.
func (app *App) ReadKey(question string) (byte, error) {
	in, ok := app.Stdin.(*os.File)
	if !ok {
		return 0, UsageError("%s: there is no terminal to answer at", question)
	}
	fmt.Fprint(app.Stderr, question)
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return 0, err
	}
	key := make([]byte, 16)
	n, err := in.Read(key)
	_ = term.Restore(int(in.Fd()), old)
	fmt.Fprintln(app.Stderr)
	if err != nil || n == 0 || key[0] < ' ' { // Esc, and what arrows begin with
		return 0, nil
	}
	return key[0], nil
}
