package shell

import (
	"strings"
)

// skipOptions returns the index of the first word that is not an option or an
// option's value.
func skipOptions(args []Word, values string, long []string) int {
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case t == "--":
			return i + 1
		case len(t) < 2 || t[0] != '-':
			return i
		case strings.HasPrefix(t, "--"):
			for _, l := range long {
				if t == l {
					i++
					break
				}
			}
		case strings.IndexByte(values, t[len(t)-1]) >= 0 && !strings.ContainsAny(t[1:len(t)-1], values):
			// -u name, and -Hu name; -uname has its value joined.
			i++
		}
	}
	return len(args)
}

// optionValue returns the value of an option at args[i]: the next word, or what is joined to it
// with "=". Letters are found at the end of a cluster, too.
func optionValue(args []Word, i int, option string) (string, bool) {
	t := args[i].Text
	if text, ok := strings.CutPrefix(t, option+"="); ok {
		return text, true
	}
	if i+1 >= len(args) {
		return "", false
	}
	cluster := len(option) == 2 && len(t) > 2 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == option[1] && len(t) < 8
	if t == option || cluster {
		return args[i+1].Text, true
	}
	return "", false
}

// keyedValue returns the value of key where word i is an option that sets it: -p KEY=text,
// -pKEY=text. What systemd allows in front of a command is left out.
func keyedValue(args []Word, i int, option, key string) (string, bool) {
	text, ok := strings.CutPrefix(args[i].Text, option+key+"=")
	if given, has := optionValue(args, i, option); !ok && has {
		text, ok = strings.CutPrefix(given, key+"=")
	}
	return strings.TrimLeft(text, "@-:+!|"), ok
}

func indexOf(args []Word, text string) int {
	for i, a := range args {
		if a.Text == text {
			return i
		}
	}
	return -1
}
