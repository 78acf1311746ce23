package facts

// Needles finds out in one pass over the bytes whether a command is worth parsing. Most
// commands aren't: `go test ./...` names nothing a guard watches and hides nothing with quoting.
//
// It is an Aho-Corasick automaton over a folded alphabet, built once per guard.
type Needles struct {
	class  [256]uint8
	width  int
	next   []uint16 // state*width + class
	accept []int8   // length of the needle that ends in this state, 0 for none
	word   []bool   // that needle must start at a word boundary
	tricks bool     // quoting and expansion that can hide a word match, too
}

// FedShells are the ways to give a shell its text on standard input. What it runs then need
// not occur in the command as it is written.
var FedShells = []string{"|sh", "| sh", "|bash", "| bash", "|zsh", "| zsh", "|dash", "| dash", "|ksh", "| ksh",
	"| sudo", "|sudo", "| env", "| ssh", "|ssh", "sh <", "bash <", "zsh <", "| busybox", "| /bin", "|/bin",
	"| /usr/bin",
	"| xargs",
	"| python", "|python", "| perl", "| node", "| ruby"}

func isAlnum(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// NewNeedles builds the automaton. Needles are matched case-insensitively; one that starts
// with a letter only matches at the start of a word.
func NewNeedles(tricks bool, list ...string) *Needles {
	n := &Needles{tricks: tricks, width: 1}
	for _, s := range list {
		for i := 0; i < len(s); i++ {
			if b := lowerByte(s[i]); n.class[b] == 0 {
				n.class[b] = uint8(n.width)
				n.width++
			}
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		n.class[b] = n.class[lowerByte(b)]
	}
	n.addState()
	needleAt := map[int]string{}
	for _, s := range list {
		at := 0
		for i := 0; i < len(s); i++ {
			k := at*n.width + int(n.class[s[i]])
			if n.next[k] == 0 {
				id := n.addState()
				n.next[k] = uint16(id)
			}
			at = int(n.next[k])
		}
		n.accept[at], n.word[at], needleAt[at] = int8(len(s)), isAlnum(s[0]), s
	}
	n.linkStates(needleAt)
	return n
}

func (n *Needles) addState() int {
	id := len(n.accept)
	n.next = append(n.next, make([]uint16, n.width)...)
	n.accept = append(n.accept, 0)
	n.word = append(n.word, false)
	return id
}

// linkStates turns the trie into an automaton without fail edges. If a shorter needle ends
// together with a longer one, the one that matches in more places is kept.
func (n *Needles) linkStates(needleAt map[int]string) {
	fail := make([]int, len(n.accept))
	var queue []int
	for c := 0; c < n.width; c++ {
		if s := int(n.next[c]); s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if f := fail[at]; n.accept[f] != 0 {
			longer := needleAt[at]
			if longer == "" || !n.word[f] || !isAlnum(longer[len(longer)-int(n.accept[f])-1]) {
				n.accept[at], n.word[at] = n.accept[f], n.word[f]
			}
		}
		for c := 0; c < n.width; c++ {
			k := at*n.width + c
			if s := int(n.next[k]); s != 0 {
				fail[s] = int(n.next[fail[at]*n.width+c])
				queue = append(queue, s)
			} else {
				n.next[k] = n.next[fail[at]*n.width+c]
			}
		}
	}
}

// MustParse reports whether s must be parsed.
func (n *Needles) MustParse(s string) bool {
	return n.Match(s) || n.tricks && hidesWords(s)
}

func (n *Needles) Match(s string) bool {
	at := 0
	for i := 0; i < len(s); i++ {
		at = int(n.next[at*n.width+int(n.class[s[i]])])
		if l := int(n.accept[at]); l != 0 {
			if j := i - l; !n.word[at] || j < 0 || !isAlnum(s[j]) {
				return true
			}
		}
	}
	return false
}

func isQuotable(b byte) bool { return isAlnum(b) || b == '\'' || b == '"' }

// hidesWords reports whether quoting or expansion could spell a word that isn't in the text:
// r”m, \rm, $'\x72m', $X, `…`, {r,}m, /bin/r?.
func hidesWords(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '$', '`', '{', '?', '[':
			return true
		case '\'', '"':
			// A quote inside a word: r"m", "r"m or 'r'"m".
			if i > 0 && isQuotable(s[i-1]) && i+1 < len(s) && isQuotable(s[i+1]) {
				return true
			}
			if i+1 < len(s) && s[i+1] == s[i] {
				return true
			}
		case '*':
			// A star inside a program's path: /bin/r*.
			if i > 0 && isAlnum(s[i-1]) {
				return true
			}
		}
	}
	return false
}
