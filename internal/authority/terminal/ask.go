package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

const (
	codeLength = 4
	codeTries  = 3
	// codeWait is how long you have for each question.
	codeWait = 30 * time.Second
	// maxQuestion bounds what is shown of a question.
	maxQuestion = 400
)

// codeLetters leaves out what is easily mistaken for another.
const codeLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// newCode makes four random characters.
func newCode() (string, error) {
	code := make([]byte, codeLength)
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(codeLetters))))
		if err != nil {
			return "", err
		}
		code[i] = codeLetters[n.Int64()]
	}
	return string(code), nil
}

// Errors of questions at a terminal.
var (
	errNoAnswer  = errors.New("no one answered in time")
	errCancelled = errors.New("you cancelled it")
	errWrong     = errors.New("the code was wrong three times")
	errNotThere  = errors.New("the code wasn't typed at that terminal's keyboard, key by key")
)

// screen is a terminal on which the daemon asks.
type screen interface {
	// Print writes text.
	Print(text string) error
	// ShowCode shows a code where no other program can read it, and returns the words that
	// ask for it.
	ShowCode(code string) (words string, err error)
	// ReadKey waits for the next character. It fails with errNotThere for one that wasn't
	// typed at the trusted terminal.
	ReadKey(ctx context.Context) (byte, error)
	// Flush forgets what was typed and not read.
	Flush() error
	Close()
}

// askCode shows a code and reads it, three times at most.
func askCode(ctx context.Context, on screen, a authority.Action, why string) error {
	if err := on.Print("\r\n" + describeAction(a, why)); err != nil {
		return err
	}
	wrong, said := errWrong, ""
	for range codeTries {
		code, err := newCode()
		if err != nil {
			return err
		}
		if err := on.Flush(); err != nil { // whatever was typed before this code was not meant for it
			return err
		}
		words, err := on.ShowCode(code)
		if err != nil {
			return err
		}
		if err := on.Print(said + words + "\r\n(no Enter; Escape cancels; " + codeWait.String() + "): "); err != nil {
			return err
		}
		typed, err := readCode(ctx, on)
		switch {
		case errors.Is(err, errNotThere):
			wrong, said = errNotThere, "\r\nThat key was not yours, or came too fast.\r\n"
		case err != nil:
			_ = on.Print("\r\n") // the terminal may be gone
			return err
		case typed == code:
			return on.Print("\r\n")
		default:
			wrong, said = errWrong, "\r\nWrong code. "
		}
	}
	_ = on.Print("\r\n") // the refusal is told by the command
	return wrong
}

// wrapLines breaks lines between words where they'd be wider than the terminal.
func wrapLines(text string, columns int) string {
	if columns < 10 {
		return text
	}
	lines := strings.Split(text, "\r\n")
	for i, line := range lines {
		var b strings.Builder
		used := 0
		for n, word := range strings.Split(line, " ") {
			width := termsafe.Width(word)
			switch {
			case n == 0:
			case used+1+width >= columns: // the last column makes some terminals break the line themselves
				b.WriteString("\r\n")
				used = 0
			default:
				b.WriteByte(' ')
				used++
			}
			b.WriteString(word)
			used += width
		}
		lines[i] = b.String()
	}
	return strings.Join(lines, "\r\n")
}

// codeWords ask for a code that everybody who reads them may know.
func codeWords(code string) string { return "Type " + code + " to confirm" }

// describeAction returns what you read before you confirm.
func describeAction(a authority.Action, why string) string {
	lines := "hookmux: " + clipText(actionText(a)) + "\r\n"
	if why != "" {
		lines += "why: " + clipText(why) + "\r\n"
	}
	return lines
}

func actionText(a authority.Action) string {
	if a.Text == "" {
		return "a command that decides"
	}
	return a.Text
}

// clipText makes text of others safe to show, and short.
func clipText(text string) string { return termsafe.Line(text, maxQuestion) }

// readCode reads as many characters as a code has.
func readCode(ctx context.Context, from screen) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, codeWait)
	defer cancel()
	var typed []byte
	for len(typed) < codeLength {
		key, err := from.ReadKey(ctx)
		if err != nil {
			return "", err
		}
		switch {
		case isCancel(key):
			return "", errCancelled
		case isErase(key):
			if len(typed) > 0 {
				typed = typed[:len(typed)-1]
				if err := from.Print("\b \b"); err != nil {
					return "", err
				}
			}
		case key > ' ' && key < 0x7f:
			typed = append(typed, key)
			if err := from.Print(string(key)); err != nil {
				return "", err
			}
		}
	}
	return strings.ToLower(string(typed)), nil
}

// enterWait is how long an Enter may come after a code, which needs none: the next
// question must not take it for an answer.
const enterWait = 300 * time.Millisecond

// takeEnter reads the Enter that a hand adds out of habit.
func takeEnter(ctx context.Context, from screen) {
	ctx, cancel := context.WithTimeout(ctx, enterWait)
	defer cancel()
	_, _ = from.ReadKey(ctx) // none, mostly
}

// maxPIN bounds what is read of a PIN.
const maxPIN = 128

// askPIN reads a PIN and has it checked, three times at most.
func askPIN(ctx context.Context, on screen, a authority.Action, why string, check func(string) error) error {
	if err := on.Print("\r\n" + describeAction(a, why)); err != nil {
		return err
	}
	var last error
	for range codeTries {
		if err := on.Print("PIN: "); err != nil {
			return err
		}
		pin, err := readHidden(ctx, on)
		_ = on.Print("\r\n") // the terminal may be gone
		if err != nil {
			return err
		}
		if last = check(pin); last == nil {
			return nil
		}
		if err := on.Print(clipText(last.Error()) + "\r\n"); err != nil {
			return err
		}
	}
	return last
}

func readHidden(ctx context.Context, from screen) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, codeWait)
	defer cancel()
	var typed []byte
	for len(typed) < maxPIN {
		key, err := from.ReadKey(ctx)
		if err != nil {
			return "", err
		}
		switch {
		case key == '\r' || key == '\n':
			return string(typed), nil
		case isCancel(key):
			return "", errCancelled
		case isErase(key):
			typed = typed[:max(len(typed)-1, 0)]
		default:
			typed = append(typed, key)
		}
	}
	return string(typed), nil
}

// isCancel is Ctrl-C, Ctrl-D or Escape.
func isCancel(key byte) bool { return key == 3 || key == 4 || key == 27 }

// isErase is Backspace, which sends either.
func isErase(key byte) bool { return key == 8 || key == 127 }
