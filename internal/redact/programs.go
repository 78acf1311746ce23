package redact

import (
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// programTable lists the options with which programs take a secret on their command line, by their
// names. Options whose name alone says so (--password, --token) need no entry: they are
// known by their name, whatever the program.
type programTable struct {
	options map[string][]option
	heads   [256]bool // first letters of names
	longest int       // name
}

// knownPrograms is made when it is first needed: it would be a twentieth of what
// `hookmux --version` costs.
var knownPrograms = sync.OnceValue(func() *programTable {
	t := &programTable{options: map[string][]option{}}
	for _, name := range programs.With(func(p *programs.Program) bool { return len(p.Secrets) > 0 }) {
		t.heads[name[0]] = true
		t.longest = max(t.longest, len(name)+len(".exe"))
		for _, s := range programs.Of(name).Secrets {
			o := option{sub: s.Behind, form: forms[s.Form], kind: s.Kind}
			if s.Between != "" {
				o.sep = s.Between[0]
			}
			for flag := range strings.FieldsSeq(s.Options) {
				o.flag = flag
				t.options[name] = append(t.options[name], o)
			}
		}
	}
	return t
})

// beginsOption reports whether a byte after a dash can begin an option: a single dash also begins
// -password, -Token, -apiKey of any program.
func beginsOption(c byte) bool {
	return c == '-' || c < 0x80 && IsAlnum(c) && !IsDigit(c)
}

// form is how an option carries its secret.
type form uint8

const (
	formNext   form = iota // -p VALUE or --opt=VALUE
	formGlued              // -pVALUE
	formBoth               // -p VALUE or -pVALUE
	formPair               // -u USER:VALUE; the option's sep is in between
	formPass               // -passin pass:VALUE
	formSecond             // -nb USER VALUE
	formThird              // -b FILE USER VALUE
	formPiped              // echo VALUE | tool --opt
	formPlain              // the first word after it that is no option and no number
	formEqual              // --opt=NAME=VALUE or --opt NAME=VALUE
)

// forms are the forms by their names in the table of programs.
var forms = map[string]form{"": formNext, "next": formNext, "glued": formGlued, "both": formBoth, "pair": formPair,
	"pass": formPass, "second": formSecond, "third": formThird, "piped": formPiped, "plain": formPlain,
	"equal": formEqual}

// option is one way in which a program takes a secret.
type option struct {
	flag string
	sub  string // a word that must be between the program and the option
	form form
	sep  byte
	kind string
}
