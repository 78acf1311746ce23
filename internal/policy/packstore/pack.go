// Package packstore keeps packs of rules that the user added: folders with a pack.yaml and
// rules/*.yaml, from a folder or a git repository.
//
// Contract: what applies is exactly what the user saw. A pack is read whole into memory,
// checked, shown, and written from memory into hookmux's own folder under the hash of its
// content; from then on nothing else is read. A copy that differs from what was added isn't
// used, and that is reported. Symbolic links, names that lead out of the pack, submodules,
// special files, tags that were moved and packs that are too large are rejected. Git is run
// without a user's or a repository's configuration, and checks nothing out.
package packstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/yamlerror"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// Limits of a pack.
const (
	maxFiles    = 100
	maxFile     = 1 << 20
	maxContent  = 4 << 20
	maxEntries  = 2000 // files and folders next to the rules
	longestText = 300
)

// The files of a pack.
const (
	manifestFile = "pack.yaml"
	rulesFolder  = "rules"
)

// Manifest holds the content of a pack.yaml.
type Manifest struct {
	Name    string `yaml:"name" json:"name"`
	Version string `yaml:"version" json:"version"`
	What    string `yaml:"what" json:"what"`
}

// File is one file of a pack, with its name relative to the pack's folder.
type File struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// Pack is the whole content of a pack: pack.yaml and the files of rules, in order.
type Pack struct {
	Manifest
	Files []File
}

var (
	// PackName matches names of packs, which come before the ids of their rules.
	packName  = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)
	ruleFile  = lazyregexp.New(`^rules/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\.yaml$`)
	plainText = lazyregexp.New(`^[^\x00-\x1f\x7f]*$`)
)

// NewPack makes a pack of its files, wherever they came from. It rejects what isn't a pack;
// Rules returns problems of its rules.
func NewPack(files []File) (*Pack, error) {
	p := &Pack{Files: slices.Clone(files)}
	slices.SortFunc(p.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	size := 0
	for i, f := range p.Files {
		size += len(f.Data)
		switch {
		case f.Path != manifestFile && !ruleFile.MatchString(f.Path):
			return nil, fmt.Errorf("%q doesn't belong in a pack, which has only pack.yaml and rules/NAME.yaml", f.Path)
		case i > 0 && p.Files[i-1].Path == f.Path:
			return nil, fmt.Errorf("%s appears twice", f.Path)
		case len(f.Data) > maxFile:
			return nil, fmt.Errorf("%s is larger than %d KiB", f.Path, maxFile>>10)
		case size > maxContent:
			return nil, fmt.Errorf("the pack is larger than %d MiB", maxContent>>20)
		case i >= maxFiles:
			return nil, fmt.Errorf("the pack has more than %d files", maxFiles)
		}
	}
	at := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == manifestFile })
	if at < 0 {
		return nil, errors.New("there's no pack.yaml; a pack's folder needs one with name, version and what")
	}
	if len(p.Files) == 1 {
		return nil, errors.New("there are no rules: put them into rules/NAME.yaml")
	}
	if err := p.readManifest(p.Files[at].Data); err != nil {
		return nil, fmt.Errorf("pack.yaml: %w", err)
	}
	return p, nil
}

func (p *Pack) readManifest(text []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := decoder.Decode(&p.Manifest); err != nil {
		return yamlerror.InLine(err)
	}
	switch {
	case !packName.MatchString(p.Name):
		return fmt.Errorf("name is %q; use up to 40 small letters, digits and dashes", p.Name)
	case IsReserved(p.Name):
		return fmt.Errorf("name is %q, which hookmux's own rules have", p.Name)
	case p.Version == "" || len(p.Version) > 40 || !plainText.MatchString(p.Version):
		return fmt.Errorf("version is %q; write one, like 1.2.3", p.Version)
	case p.What == "" || len(p.What) > longestText || !plainText.MatchString(p.What):
		return fmt.Errorf("what must say on one line, of at most %d characters, what the pack is for", longestText)
	}
	return nil
}

// IsReserved reports whether a name is taken by hookmux's own guards.
func IsReserved(name string) bool {
	return names.Is(name)
}

// Hash returns the hash of everything in the pack.
func (p *Pack) Hash() string {
	h := sha256.New()
	for _, f := range p.Files {
		fmt.Fprintf(h, "%s\x00%d\x00", f.Path, len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Sources returns the files of rules as the reader of rules takes them. The names begin with
// where.
func (p *Pack) Sources(where string) []rules.Source {
	var list []rules.Source
	for _, f := range p.Files {
		if f.Path != manifestFile {
			list = append(list, rules.Source{Name: where + "/" + f.Path, Data: f.Data, Layer: rules.Pack,
				Prefix: p.Name})
		}
	}
	return list
}

// Rules reads the rules and tries their examples.
func (p *Pack) Rules() ([]*rules.Rule, []rules.Problem) { return rules.Parse(p.Sources(p.Name)...) }

// CheckRules rejects a pack with a rule that is wrong or whose examples fail.
func (p *Pack) CheckRules() ([]*rules.Rule, error) {
	list, problems := p.Rules()
	if len(problems) > 0 {
		more := ""
		if len(problems) > 1 {
			more = fmt.Sprintf(" (and %d more; `hookmux rules check` lists them)", len(problems)-1)
		}
		return nil, fmt.Errorf("%s%s", problems[0], more)
	}
	if len(list) == 0 {
		return nil, errors.New("the pack has no rules")
	}
	return list, nil
}
