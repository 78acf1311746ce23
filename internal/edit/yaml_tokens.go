package edit

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxYAML bounds a YAML text; its parser takes its time over large ones.
const maxYAML = 4 << 20

// span is the position of a token.
type span struct {
	kind       token.Type
	start, end int
}

// lexYAML reads a text with the library and finds out where its tokens are.
func lexYAML(t *lines) (file *ast.File, spans []span, at map[*token.Token]int, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's, on a text it has no idea of
			err = &SyntaxError{Position{1, 1}, fmt.Sprintf("not readable as YAML (%v)", p)}
		}
	}()
	if len(t.body) > maxYAML {
		return nil, nil, nil, fmt.Errorf("larger than %d MB; change it by hand", maxYAML>>20)
	}
	text := string(t.body)
	tokens := lexer.Tokenize(text)
	if bad := tooDeepYAML(tokens); bad != nil {
		return nil, nil, nil, depthError(Position{max(bad.Position.Line, 1), max(bad.Position.Column, 1)})
	}
	if file, err = parser.Parse(tokens, 0); err != nil {
		return nil, nil, nil, yamlError(err)
	}
	if spans, err = align(t, text, tokens); err != nil {
		return nil, nil, nil, err
	}
	at = make(map[*token.Token]int, len(tokens))
	for i, tk := range tokens {
		at[tk] = i
	}
	return file, spans, at, nil
}

func yamlError(err error) error {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &e) && e.GetToken() != nil {
		p := e.GetToken().Position
		return &SyntaxError{Position{max(p.Line, 1), max(p.Column, 1)}, e.GetMessage()}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return &SyntaxError{Position{1, 1}, line}
}

// tooDeepYAML returns the token at which nesting passes maxDepth. Blocks can only
// nest by being indented or by several dashes on a line.
func tooDeepYAML(tokens token.Tokens) *token.Token {
	flow, line, dashes := 0, 0, 0
	for _, tk := range tokens {
		if tk.Position.Line != line {
			line, dashes = tk.Position.Line, 0
		}
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			dashes++
		}
		if flow+dashes > maxDepth || tk.Position.IndentNum > 2*maxDepth {
			return tk
		}
	}
	return nil
}

// align finds every token in the text, one after the other. The library's own positions aren't
// always right; here each character that isn't white space must belong to a token, or the text is
// rejected.
func align(t *lines, text string, tokens token.Tokens) ([]span, error) {
	spans := make([]span, 0, len(tokens))
	at := 0
	for i, tk := range tokens {
		s := span{kind: tk.Type, start: skipBlank(text, at)}
		switch {
		case tk.Type == token.CommentType:
			s.end = s.start + strings.IndexByte(text[s.start:]+"\n", '\n')
			if !strings.HasPrefix(text[s.start:], "#") {
				s.end = -1
			}
		case tk.Type == token.DoubleQuoteType:
			s.end = quotedEnd(text, s.start, '"')
		case tk.Type == token.SingleQuoteType:
			s.end = quotedEnd(text, s.start, '\'')
		case strings.TrimSpace(tk.Value) == "":
			s.start, s.end = at, at
		default:
			s.end = matchWords(text, s.start, tk.Value)
		}
		if s.end < 0 {
			return nil, &SyntaxError{t.position(min(s.start, len(text))), "unclear YAML; change it by hand"}
		}
		if i > 0 && keepsBlank(tokens, i) { // all empty lines below are part of it
			next := skipBlank(text, s.end)
			if next < len(text) {
				next = strings.LastIndexByte(text[:next], '\n')
			} else if next > 0 && text[next-1] == '\n' {
				next--
			}
			s.end = max(s.end, next)
		}
		spans = append(spans, s)
		at = s.end
	}
	if rest := skipBlank(text, at); rest < len(text) {
		return nil, &SyntaxError{t.position(rest), "unclear YAML; change it by hand"}
	}
	return spans, nil
}

// keepsBlank reports whether token i is the text of a block scalar written |+ or >+.
func keepsBlank(tokens token.Tokens, i int) bool {
	i--
	for i > 0 && tokens[i].Type == token.CommentType {
		i--
	}
	head := tokens[i]
	return (head.Type == token.LiteralType || head.Type == token.FoldedType) && strings.Contains(head.Value, "+")
}

func skipBlank(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\n", text[at]) >= 0 {
		at++
	}
	return at
}

func quotedEnd(text string, at int, quote byte) int {
	if at >= len(text) || text[at] != quote {
		return -1
	}
	for at++; at < len(text); at++ {
		switch {
		case quote == '"' && text[at] == '\\':
			at++
		case text[at] == quote && quote == '\'' && strings.HasPrefix(text[at+1:], "'"):
			at++
		case text[at] == quote:
			return at + 1
		}
	}
	return -1
}

// matchWords returns where value ends in the text, white space not compared: lines
// are folded and unindented in the value.
func matchWords(text string, at int, value string) int {
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if strings.ContainsRune(" \t\n", r) {
			i += size
			continue
		}
		at = skipBlank(text, at)
		if !strings.HasPrefix(text[at:], value[i:i+size]) {
			return -1
		}
		at, i = at+size, i+size
	}
	return at
}
