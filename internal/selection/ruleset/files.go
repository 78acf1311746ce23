package ruleset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// plainFile is a file that counts as it is.
type plainFile struct {
	source userfile.Source
	good   string // where its last good version is kept
	last   []byte // its last good version
	read   bool
	loaded Loaded
}

// ListFiles lists the files of rules in a folder.
func ListFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if accepted.IsRulesFile(e.Name()) && !e.IsDir() {
			list = append(list, filepath.Join(folder, e.Name()))
		}
	}
	return list, nil
}

// Ignored names what is in a folder of rules and isn't read.
func Ignored(folder string) []rules.Problem {
	var problems []rules.Problem
	for _, name := range accepted.IgnoredIn(folder, accepted.IsRulesFile) {
		problems = append(problems, ignoredFile(name))
	}
	return problems
}

func ignoredFile(name string) rules.Problem {
	return rules.Problem{File: name, Text: "is not read: files of rules lie in the folder itself and end in .yaml or " +
		".yml, in small letters; rename it, or move it elsewhere"}
}

// readIgnored looks for what is not read, and reports whether that changed.
func (l *Loader) readIgnored() bool {
	now := slices.Concat(Ignored(filepath.Join(l.opt.System, FolderName)), Ignored(l.userFolder()))
	changed := !slices.Equal(now, l.ignored)
	l.ignored = now
	return changed
}

// readFolder reads the files of a folder that needn't be accepted, and reports whether
// anything changed. If the folder can't be read, what was there is kept.
func (l *Loader) readFolder(known map[string]*plainFile, folder string, layer rules.Layer) bool {
	if !filepath.IsAbs(folder) {
		return false
	}
	names, err := ListFiles(folder)
	changed := false
	if err != nil {
		changed = known[folder] == nil
		if changed {
			known[folder] = &plainFile{loaded: Loaded{Problems: []rules.Problem{{File: folder,
				Text: fmt.Sprintf("cannot be read (%v); the rules that were read last stay in force", err)}}}}
			l.lastGoodOf(known, folder, layer)
		}
		return changed
	}
	if known[folder] != nil {
		delete(known, folder)
		changed = true
	}
	for name, f := range known {
		if !slices.Contains(names, name) { // taken away on purpose
			delete(known, name)
			l.noteGood(f, nil)
			changed = true
		}
	}
	for _, name := range names {
		f := known[name]
		if f == nil {
			f = &plainFile{source: userfile.Source{Path: name, Limit: maxFile},
				good: accepted.LastGoodPath(l.opt.State, "rules", name)}
			known[name] = f
			changed = true
		}
		changed = l.readPlain(f, layer) || changed
	}
	return changed
}

// goodVersion is a file as it was when everything in it was right.
type goodVersion struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// noteGood remembers a file's last good version; nil forgets it.
func (l *Loader) noteGood(f *plainFile, data []byte) {
	if data != nil && bytes.Equal(data, f.last) {
		return
	}
	f.last = data
	if f.good == "" {
		return
	}
	if data == nil {
		_ = os.Remove(f.good) // what stays is read only where the file itself is broken
		return
	}
	text, _ := json.Marshal(goodVersion{f.source.Path, string(data)})
	if err := userfile.Store(f.good, text); err != nil {
		f.loaded.Problems = append(f.loaded.Problems, rules.Problem{File: f.good,
			Text: fmt.Sprintf("cannot keep the last good rules (%v); make room or permit writing", err)})
	}
}

// readGood reads a last good version.
func readGood(file string) (goodVersion, bool) {
	var v goodVersion
	data, err := userfile.ReadFile(file, 2*maxFile)
	return v, err == nil && json.Unmarshal(data, &v) == nil
}

// lastGoodOf brings back the last good versions of files in a folder that cannot
// be read.
func (l *Loader) lastGoodOf(known map[string]*plainFile, folder string, layer rules.Layer) {
	if l.opt.State == "" {
		return
	}
	kept, err := filepath.Glob(filepath.Join(l.opt.State, "lastgood", "rules-*.json"))
	if err != nil {
		return
	}
	for _, file := range kept {
		v, ok := readGood(file)
		if !ok || filepath.Dir(v.File) != folder || known[v.File] != nil {
			continue
		}
		f := &plainFile{source: userfile.Source{Path: v.File, Limit: maxFile}, good: file, last: []byte(v.Text)}
		f.loaded.Rules, _ = rules.Parse(rules.Source{Name: v.File, Data: f.last, Layer: layer})
		known[v.File] = f
	}
}

// readPlain reads a file when it changed. Where it is broken its last good version
// counts, as a whole or rule by rule.
func (l *Loader) readPlain(f *plainFile, layer rules.Layer) bool {
	data, changed, err := f.source.Read()
	if f.read && !changed {
		return false
	}
	if !f.read && f.last == nil && f.good != "" {
		if v, ok := readGood(f.good); ok && v.File == f.source.Path {
			f.last = []byte(v.Text)
		}
	}
	f.read = true
	name := f.source.Path
	good, _ := rules.Parse(rules.Source{Name: name, Data: f.last, Layer: layer})
	if err != nil {
		f.loaded = Loaded{Rules: good, Problems: []rules.Problem{{File: name, Text: fmt.Sprintf("cannot be read (%v)%s", err,
			insteadOf(good))}}}
		return true
	}
	list, problems := rules.Parse(rules.Source{Name: name, Data: data, Layer: layer})
	f.loaded = Loaded{Rules: list, Problems: problems}
	if len(problems) == 0 {
		l.noteGood(f, append([]byte{}, data...))
		return true
	}
	for i, p := range problems {
		if p.Whole {
			f.loaded.Rules = good
			f.loaded.Problems[i].Text += insteadOf(good)
			return true
		}
		at := slices.IndexFunc(good, func(r *rules.Rule) bool { return r.ID == p.Rule })
		isThere := slices.ContainsFunc(f.loaded.Rules, func(r *rules.Rule) bool { return r.ID == p.Rule })
		if at >= 0 && !isThere {
			f.loaded.Rules = append(f.loaded.Rules, good[at])
			f.loaded.Problems[i].Text += "; its last good version stays in force"
		}
	}
	return true
}

func insteadOf(good []*rules.Rule) string {
	if len(good) == 0 {
		return "; nothing of it is in force"
	}
	return "; its last good version stays in force"
}

// acceptedFile is a file of the user, active as last accepted.
type acceptedFile struct {
	file   *accepted.File
	loaded Loaded
	added  []*rules.Rule // what counts although nobody accepted it
}

// readAccepted reads the user's files, and reports whether anything changed.
func (l *Loader) readAccepted() bool {
	if l.opt.User == "" {
		return false
	}
	folder := l.userFolder()
	names, err := ListFiles(folder)
	for _, name := range l.opt.Accepted.KnownIn(folder) {
		if path := filepath.Join(folder, name); accepted.IsRulesFile(name) && !slices.Contains(names, path) {
			names = append(names, path)
		}
	}
	changed := false
	for name := range l.checked {
		if !slices.Contains(names, name) && err == nil {
			delete(l.checked, name)
			changed = true
		}
	}
	for _, name := range names {
		f := l.checked[name]
		if f == nil {
			f = &acceptedFile{file: l.opt.Accepted.File(name, maxFile, strengthen(name), checkText(name))}
			l.checked[name] = f
		}
		changed = f.reload(name) || changed
	}
	return changed
}

// reload reads the file when it, or what is in force, changed.
func (f *acceptedFile) reload(name string) bool {
	view, changed := f.file.Read()
	if !changed {
		return false
	}
	of := func(data []byte) rules.Source { return rules.Source{Name: name, Data: data, Layer: rules.User} }
	f.loaded = Loaded{}
	f.loaded.Rules, f.loaded.Problems = rules.Parse(of(view.Accepted))
	f.added = addedRules(name, view.InForce)
	const instead = "; the last accepted version stays active"
	switch {
	case view.LiveErr != nil:
		text := fmt.Sprintf("cannot be read (%v)%s", view.LiveErr, instead)
		f.loaded.Problems = []rules.Problem{{File: name, Text: text}}
	case view.Live != nil && view.Waits:
		_, f.loaded.Problems = rules.Parse(of(view.Live))
		for i := range f.loaded.Problems {
			f.loaded.Problems[i].Text += instead
		}
	}
	// What was accepted counts as it was: additions only add.
	f.added = slices.DeleteFunc(f.added, func(r *rules.Rule) bool {
		return slices.ContainsFunc(f.loaded.Rules, func(known *rules.Rule) bool { return known.ID == r.ID })
	})
	return true
}

// checkText says what keeps a file from being accepted: nothing of it can be
// read. A single rule that is wrong is reported and left out.
func checkText(name string) func([]byte) error {
	return func(data []byte) error {
		_, problems := rules.Parse(rules.Source{Name: name, Data: data, Layer: rules.User})
		for _, p := range problems {
			if p.Whole {
				return errors.New(p.String())
			}
		}
		return nil
	}
}

// What is active of a changed file: the accepted text, followed by lines that begin with
// addedMark, each with a whole text. Only the rules named there are active, and only as far
// as they deny or ask.
const (
	addedMark = "# hookmux: of what follows these rules count, although nobody accepted them: "
	maxAdded  = 16 // texts
)

// addedTexts returns the parts of an active text that weren't accepted.
func addedTexts(trusted []byte) (head string, parts []string) {
	all := strings.Split(string(trusted), "\n"+addedMark)
	return all[0], all[1:]
}

// addedRules returns the rules of an active text that weren't accepted.
func addedRules(name string, trusted []byte) []*rules.Rule {
	var list []*rules.Rule
	_, parts := addedTexts(trusted)
	for _, part := range parts {
		ids, text, _ := strings.Cut(part, "\n")
		found, _ := rules.Parse(rules.Source{Name: name, Data: []byte(text), Layer: rules.User})
		counted := strings.Fields(ids)
		list = append(list, slices.DeleteFunc(found, func(r *rules.Rule) bool {
			return !onlyTightens(r) || !slices.Contains(counted, r.ID) ||
				slices.ContainsFunc(list, func(other *rules.Rule) bool { return other.ID == r.ID })
		})...)
	}
	return list
}

// onlyTightens reports whether a rule may count at once.
func onlyTightens(r *rules.Rule) bool {
	refuses := r.Decide == rules.Deny || r.Decide == rules.Ask
	return refuses && !r.MayAllow() && (r.Mode == rules.Block || r.Mode == rules.Asks)
}

// repeatedRules returns the ids of a part in force, if a text holds all its rules as they
// are; nil otherwise.
func repeatedRules(name, part string, found []*rules.Rule) []string {
	ids, text, _ := strings.Cut(part, "\n")
	counted := strings.Fields(ids)
	list, _ := rules.Parse(rules.Source{Name: name, Data: []byte(text), Layer: rules.User})
	for _, r := range list {
		isSame := func(now *rules.Rule) bool { return now.ID == r.ID && now.SameAs(r) }
		if slices.Contains(counted, r.ID) && !slices.ContainsFunc(found, isSame) {
			return nil
		}
	}
	return counted
}

// strengthen lays over what is in force the rules that a changed file adds and
// that only refuse or ask. A rule that is known stays as it is.
func strengthen(name string) accepted.Strengthen {
	return func(have, live []byte, _ accepted.State) []byte {
		if live == nil || bytes.Contains(live, []byte(addedMark)) {
			return have
		}
		head, parts := addedTexts(have)
		known, _ := rules.Parse(rules.Source{Name: name, Data: []byte(head), Layer: rules.User})
		before := addedRules(name, have)
		known = append(known, before...)
		found, _ := rules.Parse(rules.Source{Name: name, Data: live, Layer: rules.User})
		var fresh []string
		for _, r := range found {
			has := func(k *rules.Rule) bool { return k.ID == r.ID }
			isKnown := slices.ContainsFunc(known, has)
			if onlyTightens(r) && !isKnown {
				fresh = append(fresh, r.ID)
			}
		}
		if len(fresh) == 0 {
			return have
		}
		// What the file contains as it was added before needn't be kept twice: files are
		// written rule by rule.
		parts = slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
			ids := repeatedRules(name, part, found)
			fresh = append(fresh, ids...)
			return ids != nil
		})
		joined := []byte(head)
		for _, part := range parts {
			joined = append(joined, "\n"+addedMark+part...)
		}
		if len(parts) >= maxAdded || len(joined)+len(live) > maxFile {
			return have
		}
		return slices.Concat(joined, []byte("\n"+addedMark+strings.Join(fresh, " ")+"\n"), live)
	}
}
