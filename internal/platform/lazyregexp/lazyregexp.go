// Package lazyregexp provides regular expressions that are compiled when they are first used.
// Package-level variables of type *regexp.Regexp are compiled at every start of the program,
// even for verbs that never need them.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression that is compiled once, on first use. Several
// goroutines may use it.
type Regexp struct {
	get func() *regexp.Regexp
}

// underTest makes mistakes in expressions show in every test of a package.
var underTest = len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")

// New takes a regular expression as regexp.MustCompile does. A wrong one panics
// on first use, and at once in a test program.
func New(text string) *Regexp {
	r := &Regexp{get: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if underTest {
		r.get()
	}
	return r
}

// Compiled returns the compiled expression.
func (r *Regexp) Compiled() *regexp.Regexp { return r.get() }

// Match is regexp.Regexp.Match.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// MatchString is regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// FindString is regexp.Regexp.FindString.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringSubmatch is regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindAllStringSubmatch is regexp.Regexp.FindAllStringSubmatch.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is regexp.Regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }
