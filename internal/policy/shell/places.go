package shell

import "strings"

// placeRunes represent the two ends of a folder that only the machine knows: its parent, and
// its own name. With them ${x%/*} and ${x##*/} of it can be worked out.
var placeRunes = map[string][2]rune{"HOME": {'\uE000', '\uE001'}, "PWD": {'\uE002', '\uE003'}}

// IsPlace reports whether a variable names such a folder.
func IsPlace(name string) bool {
	_, ok := placeRunes[name]
	return ok
}

// MarkPlaces replaces the folders of a text by their runes.
func MarkPlaces(text string, tilde bool) string {
	if tilde && (text == "~" || strings.HasPrefix(text, "~/")) {
		text = "$HOME" + text[1:]
	}
	for name, runes := range placeRunes {
		folder := "/" + string(runes[0]) + "/" + string(runes[1])
		text = strings.ReplaceAll(text, "${"+name+"}", folder)
		for at := 0; ; {
			i := strings.Index(text[at:], "$"+name)
			if i < 0 {
				break
			}
			end := at + i + len(name) + 1
			if end < len(text) && (text[end] == '_' || text[end] >= '0' && text[end] <= '9' ||
				text[end] >= 'A' && text[end] <= 'Z' || text[end] >= 'a' && text[end] <= 'z') {
				at = end
				continue
			}
			text = text[:at+i] + folder + text[end:]
			at += i + len(folder)
		}
	}
	return text
}

// UnmarkPlaces turns the runes back into folders; ok is false if only a part of one is left,
// which has no name.
func UnmarkPlaces(text string) (string, bool) {
	for name, runes := range placeRunes {
		text = strings.ReplaceAll(text, "/"+string(runes[0])+"/"+string(runes[1]), "$"+name)
		text = strings.ReplaceAll(text, "/"+string(runes[0]), "$"+name+"/..")
		if name == "HOME" {
			text = strings.ReplaceAll(text, string(runes[1]), "$USER")
		}
	}
	return text, !strings.ContainsAny(text, "\uE000\uE001\uE002\uE003")
}
