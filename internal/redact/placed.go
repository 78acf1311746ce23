package redact

import (
	"strings"
)

// phrase is a text after which a secret can follow by position, without a name and without a
// shape of its own.
type phrase struct {
	text  string
	match func(s string, at int) (span, bool) // at is where text begins
}

// phrases are searched one by one, each with the search for a fixed text, which costs next to
// nothing if the text is absent.
var phrases = [...]phrase{
	{"|", matchPiped},
	{"send", matchSent},
	{"vault ", matchPairs},
	{"bao ", matchPairs},
	{"secrets set ", matchPairs},
	{"config:set ", matchPairs},
	{"sqlplus ", matchOracle},
	{"sqlldr ", matchOracle},
	{"expdp ", matchOracle},
	{"impdp ", matchOracle},
	{"rman ", matchOracle},
	{"connect ", matchOracle},
}

// nextPlaced finds the first secret after p, from index from on.
func nextPlaced(p *phrase, s string, from int) (span, bool) {
	s = s[from:]
	for at := 0; ; at += len(p.text) {
		n := strings.Index(s[at:], p.text)
		if n < 0 {
			return span{}, false
		}
		at += n
		if sp, ok := p.match(s, at); ok && sp.end > sp.start {
			return span{sp.start + from, sp.end + from, sp.kind}, true
		}
	}
}

// phraseKeys are the phrases by their second letter, or the only one, which is rarer in
// ordinary text than the first.
var phraseKeys = func() (t [256][]string) {
	for i := range phrases {
		text := phrases[i].text
		key := text[min(1, len(text)-1)]
		t[key] = append(t[key], text)
	}
	return t
}()

// hasPhrase reports whether nextPlaced has anything to look at, in one pass.
func hasPhrase(s string) bool {
	for i := 0; i < len(s); i++ {
		list := phraseKeys[s[i]]
		if list == nil {
			continue
		}
		for _, text := range list {
			if at := i - min(1, len(text)-1); at >= 0 && s[at] == text[0] && strings.HasPrefix(s[at:], text) {
				return true
			}
		}
	}
	return false
}

// readerRows are the programs that read a secret from their input, and what their command must
// contain for it: one of the words in with, nothing if it is empty.
var readerRows = []struct{ programs, with, kind string }{
	{"cryptsetup veracrypt gocryptfs encfs ecryptfs-mount-passphrase ecryptfs-add-passphrase zuluCrypt-cli " +
		"systemd-cryptenroll systemd-creds clevis bitlocker dislocker", "", "password"},
	{"su passwd smbpasswd pdbedit kinit kpasswd ktutil chpasswd mkpasswd vncpasswd ssh-add sshpass mokutil " +
		"grub-mkpasswd-pbkdf2", "", "password"},
	{"keepassxc-cli secret-tool pass gopass rbw bw op lpass ansible-vault argon2 age-keygen rage", "", "password"},
	{"sudo", "-S --stdin", "password"},
	{"doas runuser", "", "password"},
	{"gpg gpg2 gpgsm", "--passphrase-fd", "password"},
	{"openssl", "stdin", "password"},
	{"docker podman nerdctl buildah helm oras crane regctl finch", "--password-stdin", "password"},
	{"docker podman", "secret", "secret"},
	{"restic borg rclone duplicity kopia", "init unlock obscure key", "password"},
	{"gh glab", "--with-token --stdin secret", "token"},
	{"vault bao consul", "login -", "secret"},
	{"gcloud", "secrets", "secret"},
	{"wrangler fly flyctl vercel netlify railway heroku", "secret secrets env import", "secret"},
	{"kubeseal", "--raw", "secret"},
	{"kubectl oc", "/dev/stdin", "secret"},
	{"step", "/dev/stdin", "password"},
	{"openconnect", "--passwd-on-stdin", "password"},
	{"htpasswd", "-i -ni -in -niB", "password"},
	{"oathtool", "-", "key"},
	{"mysql mariadb psql", "-p --password", "password"},
	{"az aws", "--password-stdin @- file:///dev/stdin", "secret"},
	{"security", "-w -i", "password"},
	{"npm pnpm yarn", "login", "token"},
	{"curl wget", "-K- --config", "password"},
}

// readsSecret returns the kind of secret that a command reads from its input, "" for none. It also
// knows the program after sudo and the like, and with its path.
func readsSecret(command string) string {
	head := 0 // words looked at for the program
	for word := range strings.FieldsSeq(command) {
		if strings.IndexByte(word, '=') > 0 || word[0] == '-' {
			continue // the environment, an option of a wrapper
		}
		if head++; head > 3 {
			return ""
		}
		word = word[strings.LastIndexByte(word, '/')+1:]
		for i := range readerRows {
			r := &readerRows[i]
			if !hasField(r.programs, word) {
				continue
			}
			if r.with == "" {
				return r.kind
			}
			for with := range strings.FieldsSeq(r.with) {
				if hasField(command, with) || len(with) > 3 && strings.Contains(command, with) {
					return r.kind
				}
			}
		}
		switch word {
		case "sudo", "doas", "env", "command", "exec", "time", "nice", "nohup", "timeout":
		default:
			return ""
		}
	}
	return ""
}

func hasField(list, word string) bool {
	for one := range strings.FieldsSeq(list) {
		if one == word {
			return true
		}
	}
	return false
}

// commandEnd returns where the command ends that begins at i.
func commandEnd(s string, i int) int {
	hi := min(len(s), i+commandReach)
	for k := i; k < hi; k++ {
		switch s[k] {
		case '\n', ';', '|':
			return k
		case '&':
			if k+1 < hi && s[k+1] == '&' {
				return k
			}
		}
	}
	return hi
}

// matchPiped matches what echo or printf pipes to a program that reads a secret. s[at]
// is the pipe.
func matchPiped(s string, at int) (span, bool) {
	if at+1 < len(s) && s[at+1] == '|' || at > 0 && s[at-1] == '|' {
		return span{}, false
	}
	if lo := max(0, at-256); !strings.Contains(s[lo:at], "echo ") && !strings.Contains(s[lo:at], "printf ") {
		return span{}, false
	}
	kind := readsSecret(s[at+1 : commandEnd(s, at+1)])
	if kind == "" {
		return span{}, false
	}
	sp, ok := pipedValue(s, at+1, false)
	if ok && sp.kind == "password" {
		sp.kind = kind
	}
	return sp, ok
}

// matchHere matches what a here-string or a here-document of one line passes to a
// program that reads a secret. s[i] is the first sign.
func matchHere(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], "<<") || i > 0 && s[i-1] == '<' {
		return span{}, false
	}
	lo := commandStart(s, i)
	if strings.HasPrefix(s[i:], "<<<") {
		k := SkipBlanks(s, i+3)
		if k >= len(s) || s[k] == '\n' {
			return span{}, false
		}
		if k+1 < len(s) && s[k] == '$' && IsQuote(s[k+1]) {
			k++ // $'x'
		}
		end := wordEnd(s, k)
		kind := readsSecret(s[lo:i] + " " + s[end:commandEnd(s, end)])
		if kind == "" {
			return span{}, false
		}
		return flagValue(s, k, kind, false, false)
	}
	kind := readsSecret(s[lo:i])
	nl := strings.IndexByte(s[i:min(len(s), i+lookahead)], '\n')
	if kind == "" || nl < 0 {
		return span{}, false
	}
	k := i + nl + 1
	end := k
	for end < len(s) && end-k < lookahead && s[end] != '\n' {
		end++
	}
	start := SkipBlanks(s, k)
	mark := strings.Trim(strings.TrimLeft(s[i:i+nl], "<-"), " '\"\\")
	if start >= end || isHarmless(s[start:end]) || !strings.HasPrefix(strings.TrimLeft(s[end:], "\n\t "), mark) {
		return span{}, false
	}
	return valueSpan(s, start, end, kind), true
}

// sentReach is how far before what is sent the question for it is looked for.
const sentReach = 200

// matchSent matches the answer of an expect script to a question for a password:
// send "x\r", child.sendline("x"). s[at] is the s.
func matchSent(s string, at int) (span, bool) {
	if !StartsWord(s, at, false) {
		return span{}, false
	}
	k := at + len("send")
	for _, tail := range []string{"line", "_slow", "_user", "text"} {
		if strings.HasPrefix(s[k:], tail) {
			k += len(tail)
			break
		}
	}
	if k >= len(s) || s[k] != ' ' && s[k] != '(' {
		return span{}, false
	}
	call := s[k] == '('
	for k++; k < len(s) && (s[k] == ' ' || s[k] == '-'); k++ {
		if s[k] == '-' && k+1 < len(s) && (s[k+1] == 's' || s[k+1] == 'h') { // -s and -h: slowly
			k++
		}
	}
	braces := k < len(s) && s[k] == '{'
	for n := 0; k < len(s) && s[k] == '\\' && n < 4; n++ {
		k++
	}
	if k >= len(s) || !IsQuote(s[k]) && !braces {
		return span{}, false
	}
	k++
	closing := s[k-1]
	if braces {
		closing = '}'
	}
	end := k
	for end < len(s) && end-k < lookahead && s[end] != closing && s[end] != '\\' && s[end] != '\r' && s[end] != '\n' {
		end++
	}
	if end >= len(s) || end == k || isHarmless(s[k:end]) || s[k] == '$' {
		return span{}, false
	}
	if !call && s[end] == closing && !braces {
		return span{}, false // nothing is typed without a return
	}
	question := strings.ToLower(s[max(0, at-sentReach):at])
	if n := strings.LastIndex(question, "expect"); n >= 0 {
		question = question[n:]
	}
	if n := strings.LastIndex(question, "send"); n >= 0 {
		question = question[n:]
	}
	for _, asked := range []string{"assword", "assphrase", "passcode", "pin:", "pin for", "token", "secret"} {
		if strings.Contains(question, asked) {
			return valueSpan(s, k, end, "password"), true
		}
	}
	return span{}, false
}

// matchPairs matches the values of name=value after a command that stores secrets: vault kv put
// PATH name=value. Names that say otherwise are rare there.
func matchPairs(s string, at int) (span, bool) {
	end := commandEnd(s, at)
	k := at
	if s[at] == 'v' || s[at] == 'b' {
		if !StartsWord(s, at, true) {
			return span{}, false
		}
		stores := false
		for _, verb := range []string{" put ", " write ", " patch ", " login "} {
			if n := strings.Index(s[at:end], verb); n >= 0 {
				k, stores = at+n+len(verb), true
				break
			}
		}
		if !stores {
			return span{}, false
		}
	} else {
		k += strings.LastIndexByte(s[at:min(end, at+12)], ' ')
	}
	for k < end {
		k = SkipBlanks(s, k)
		stop := min(wordEnd(s, k), len(s))
		if k >= end || s[k] == '\n' || stop <= k {
			break
		}
		if sign := strings.IndexByte(s[k:stop], '='); sign > 0 && s[k] != '-' {
			from := k + sign + 1
			if IsQuote(s[k]) {
				stop = max(from, stop-1)
			} else if from < len(s) && IsQuote(s[from]) {
				stop = wordEnd(s, from)
				from, stop = from+1, max(from+1, stop-1)
			}
			stop = min(stop, len(s))
			if val := s[from:stop]; len(val) >= 3 && val[0] != '@' && val != "-" && !isHarmless(val) && !isDuration(val) {
				return valueSpan(s, from, stop, "secret"), true
			}
		}
		k = stop
	}
	return span{}, false
}

// isDuration reports whether s is like 3600 and 24h: settings that are written the same way.
func isDuration(s string) bool {
	s = strings.TrimRight(s, "smhd")
	return s == "" || allDigits(s)
}

// matchOracle matches the password of USER/PASSWORD@DB and USER/PASSWORD, the form in which
// Oracle's programs take the user.
func matchOracle(s string, at int) (span, bool) {
	if !StartsWord(s, at, true) {
		return span{}, false
	}
	end := commandEnd(s, at)
	k := at + strings.IndexByte(s[at:], ' ')
	for k < end {
		k = SkipBlanks(s, k)
		stop := min(wordEnd(s, k), end)
		if k >= stop {
			break
		}
		from := k
		for _, lead := range []string{"'", `"`, "userid=", "USERID=", "target=", "'", `"`} {
			if strings.HasPrefix(s[from:stop], lead) {
				from += len(lead)
			}
		}
		user := RunEnd(s, from, Alnum|Name)
		if user > from && user < stop && s[user] == '/' && s[from] != '-' && s[from] != '.' {
			pass := user + 1
			last := strings.LastIndexByte(s[pass:stop], '@')
			connects := s[at] == 'c' // "connect" is also an ordinary word
			switch {
			case last > 0:
				last += pass
			case last < 0 && !connects:
				last = stop
				for last > pass && IsQuote(s[last-1]) {
					last--
				}
			}
			if last > pass && !isHarmless(s[pass:last]) && strings.IndexByte(s[pass:last], '/') < 0 {
				return valueSpan(s, pass, last, "password"), true
			}
		}
		k = stop
	}
	return span{}, false
}

// namesDotenv reports whether text names a .env file, whose lines are worth a closer look
// wherever they are.
func namesDotenv(s string) bool {
	for at := 0; ; at += len(".env") {
		n := strings.Index(s[at:], ".env")
		if n < 0 {
			return false
		}
		at += n
		end := at + len(".env")
		if end < len(s) && (IsAlnum(s[end]) || s[end] == '[' || s[end] == '(') {
			continue
		}
		if at == 0 || !IsAlnum(s[at-1]) && s[at-1] != ')' && s[at-1] != ']' {
			return true
		}
		if end == len(s) || s[end] == '"' { // prod.env, but not process.env.X
			return true
		}
	}
}

// nextDotenv finds the next line NAME=value whose value could be a secret whatever
// its name is.
func nextDotenv(s string, from int) (span, bool) {
	s = s[from:]
	for at := 0; ; at++ {
		n := strings.IndexByte(s[at:], '=')
		if n < 0 {
			return span{}, false
		}
		at += n
		if sp, ok := matchDotenv(s, at); ok {
			return span{sp.start + from, sp.end + from, sp.kind}, true
		}
	}
}

func matchDotenv(s string, i int) (span, bool) {
	name := i
	for name > 0 && IsAlnum(s[name-1]) || name > 0 && s[name-1] == '_' {
		if name--; i-name > maxName {
			return span{}, false
		}
	}
	line := strings.LastIndexByte(s[max(0, name-32):name], '\n')
	before := s[max(0, name-32):name]
	if line >= 0 {
		before = before[line+1:]
	} else if name > 32 {
		return span{}, false
	}
	// Line numbers of a tool, and the shell's export.
	before = strings.TrimSuffix(strings.TrimRight(before, " \t"), "export")
	before = strings.TrimLeft(before, " \t0123456789")
	switch strings.TrimSpace(before) {
	case "", "→", ":", "|", "│", "+", "-", "content:":
	default:
		return span{}, false
	}
	if name == i || IsDigit(s[name]) {
		return span{}, false
	}
	start := i + 1
	if start >= len(s) || harmlessHead(s[start:]) {
		return span{}, false
	}
	end := start
	if IsQuote(s[start]) {
		start++
		end = start
		for end < len(s) && end-start < 4096 && s[end] != s[start-1] && s[end] != '\n' {
			end++
		}
	} else {
		for end < len(s) && end-start < 4096 && !IsSpace(s[end]) {
			end++
		}
	}
	val := s[start:end]
	if kind, _ := nameKindOf(s[name:i]); kind != "" {
		return valueSpan(s, start, end, kind), len(val) >= 4 && !isHarmless(val)
	}
	if len(val) < 8 || isHarmless(val) || !IsMixed(val) || strings.Contains(val, "://") ||
		HasPathForm(val) || HasVersionForm(val) || strings.IndexByte(val, ' ') >= 0 || val[0] == '/' ||
		strings.Contains(val, ".local") || strings.Contains(val, "localhost") || isUUID(val) {
		return span{}, false
	}
	return valueSpan(s, start, end, "env-value"), true
}
