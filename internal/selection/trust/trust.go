// Package trust decides which of a project's own hooks may run: exactly those
// a person has seen.
//
// Covered are every file in the project's .hookmux folder and every file within
// the project that a registration names, by content. Trust is kept per
// repository and path, so that another working tree with the same content does
// not ask again, and neither does another branch. When anything covered changes,
// or disappears, the last trusted content stays in force until the user
// decides. Content that was trusted once and replaced by other trusted content
// on the same branch counts as changed when it comes back: a stash must not
// take a guard away. That is a net for accidents, not for malice: whoever moves
// the repository to another branch gets what was trusted before.
//
// What runs is what was hashed: when content is trusted, the bytes that were
// hashed are copied into the state folder, and from then on the hooks file is
// read from that copy and files it names are run from that copy, never from the
// project. There is no moment between checking and running in which a file
// could be exchanged. Two things follow for people who write hooks. A script
// that looks for other files beside itself finds the rest of .hookmux, which is
// copied as a whole, but not the rest of the project: that is in
// $HOOKMUX_PROJECT. And what a named program goes on to load from the project
// (make and its Makefile, npm, anything below node_modules) is not covered;
// hooks that may do so are listed as running the project's code. A relative
// path in a hook means a file of the project, wherever in it the event happens.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// Status says whether a project is trusted.
type Status string

// The states.
const (
	Absent    Status = "absent"    // it has no hooks, and never had trusted ones
	Untrusted Status = "untrusted" // nothing of it runs
	Changed   Status = "changed"   // the last trusted content runs, not what is there
	Trusted   Status = "trusted"
)

// Options says where trust is kept and how a file of hooks is read.
type Options struct {
	State string // its folder trust is ours
	// Parse reads a file of hooks and says what is wrong with it; content that
	// does not parse cannot be trusted.
	Parse func([]byte) ([]hook.Registration, error)
}

// Store keeps what is trusted. Safe for concurrent use.
type Store struct {
	state string
	dir   string
	parse func([]byte) ([]hook.Registration, error)

	mu       sync.Mutex
	projects map[string]*project
	verified map[string]*verifiedCopy // copies that were hashed since start
}

// project holds what is remembered of one root.
type project struct {
	common, rel string
	key         string
	head        userfile.Source // the repository's HEAD in this tree
	branch      string
	identified  time.Time
	content     *content
	err         error // why the content cannot be trusted as it is
	record      userfile.Source
	kept        record // what the file says
	keptErr     error
	trusted     *TrustedContent
}

// New makes a store; nothing is read before it is asked.
func New(opt Options) *Store {
	return &Store{state: opt.State, dir: filepath.Join(opt.State, folder), parse: opt.Parse,
		projects: map[string]*project{}, verified: map[string]*verifiedCopy{}}
}

// identityAge is how long it is believed which repository a folder is in.
const identityAge = 2 * time.Second

// maxProjects is how many are remembered at once.
const maxProjects = 256

func realRoot(root string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(root)
	if errors.Is(err, fs.ErrNotExist) {
		return root, nil // a deleted project keeps its name
	}
	return resolved, err
}

// readProject brings what is known of a project up to date.
func (s *Store) readProject(root string) (*project, record, error) {
	p := s.projects[root]
	if p == nil {
		if len(s.projects) >= maxProjects {
			clear(s.projects)
		}
		p = &project{}
		s.projects[root] = p
	}
	if p.content == nil || !p.content.isUnchanged() {
		before := ""
		if p.content != nil {
			before = p.content.contentHash() + textOf(p.err)
		}
		p.content, p.err = s.collectContent(root, nil)
		if before != p.content.contentHash()+textOf(p.err) {
			p.trusted = nil
		}
		p.content.bytes = nil // only trusting needs them, and reads them itself
	}
	// The tree may become, or stop being, part of a repository; rarely.
	if p.key == "" || time.Since(p.identified) > identityAge {
		p.identified = time.Now()
		common, rel, head := projectIdentity(root)
		if head != p.head.Path {
			p.head = userfile.Source{Path: head, Limit: 4096}
		}
		if p.key != "" && common == p.common && rel == p.rel {
			return s.readState(p)
		}
		p.common, p.rel = common, rel
		sum := sha256.Sum256([]byte(common + "\x00" + rel))
		p.key = hex.EncodeToString(sum[:12])
		p.record = userfile.Source{Path: s.recordFile(p.key), Limit: 8 << 20}
		p.trusted = nil
	}
	return s.readState(p)
}

func (s *Store) readState(p *project) (*project, record, error) {
	data, changed, err := p.record.Read()
	if err != nil {
		return p, record{}, err
	}
	if branch := branchOf(&p.head); changed || branch != p.branch {
		p.branch, p.trusted = branch, nil
	}
	if changed || p.kept.Version == 0 {
		p.kept, p.keptErr = s.readRecord(p.key, data)
	}
	return p, p.kept, p.keptErr
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s *Store) recordFile(key string) string { return filepath.Join(s.state, recordName(key)) }
func (s *Store) copyDir(key, hash string) string {
	return filepath.Join(s.dir, key, hash)
}

// TrustedContent is the part of a project that may run right now.
type TrustedContent struct {
	Status Status
	Root   string
	// Hooks is the file to load hooks from, a trusted copy; "" for none.
	Hooks string
	// ShownAs is the displayed name of that file.
	ShownAs string
	// Problem says why nothing or something older is in force, and what to do.
	Problem string

	// Damaged says that what is trusted is known, and the copy of it is not what it was.
	Damaged bool

	copy  string
	files map[string]bool
	used  *trusted // what was trusted, nil for nothing
	dir   string   // its copy, whole or not
}

// agentsFolder is where a project describes agents, rulesFolder where it keeps
// rules.
const (
	agentsFolder = dirName + "/agents/"
	rulesFolder  = dirName + "/rules/"
	// programsFolder is where it describes programs.
	programsFolder = dirName + "/programs/"
)

// AgentFiles returns the descriptions of agents among what is trusted, from the
// project's root.
func (f *TrustedContent) AgentFiles() []string { return f.filesIn(agentsFolder, ".yaml") }

// RuleFiles returns the files of rules among what is trusted, from the project's root.
func (f *TrustedContent) RuleFiles() []string { return f.filesIn(rulesFolder, ".yaml", ".yml") }

// ProgramFiles returns the descriptions of programs among what is trusted, from the
// project's root.
func (f *TrustedContent) ProgramFiles() []string { return f.filesIn(programsFolder, ".yaml", ".yml") }

// IgnoredRules returns the files among what is trusted that lie with the rules, or below
// them, and are not read; IgnoredAgents those that lie with descriptions of agents.
func (f *TrustedContent) IgnoredRules() []string { return f.ignoredIn(rulesFolder, f.RuleFiles()) }

// IgnoredAgents is described at [TrustedContent.IgnoredRules].
func (f *TrustedContent) IgnoredAgents() []string { return f.ignoredIn(agentsFolder, f.AgentFiles()) }

func (f *TrustedContent) ignoredIn(folder string, read []string) []string {
	var list []string
	for rel := range f.files {
		name, ok := strings.CutPrefix(rel, folder)
		isRead := func(string) bool { return slices.Contains(read, rel) }
		if ok && accepted.IsIgnored(filepath.Base(name), isRead) {
			list = append(list, rel)
		}
	}
	slices.Sort(list)
	return list
}

// filesIn returns the trusted files right in a folder, with one of some endings.
func (f *TrustedContent) filesIn(folder string, endings ...string) []string {
	var list []string
	for rel := range f.files {
		name, ok := strings.CutPrefix(rel, folder)
		if ok && !strings.Contains(name, "/") && slices.Contains(endings, filepath.Ext(name)) {
			list = append(list, rel)
		}
	}
	slices.Sort(list)
	return list
}

// CopyOf returns the trusted copy of a file that is given from the project's root.
func (f *TrustedContent) CopyOf(rel string) string { return filepath.Join(f.copy, rel) }

// InForce returns what of the project at root may run. Costs a stat per covered file
// and its copy when nothing changed; the same pointer comes back then.
func (s *Store) InForce(root string) *TrustedContent {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := realRoot(root)
	if err != nil {
		return &TrustedContent{Status: Untrusted, Root: root, Problem: err.Error()}
	}
	p, rec, err := s.readProject(root)
	if err != nil {
		return &TrustedContent{Status: Untrusted, Root: root, Problem: fmt.Sprintf("%s: %v", root, err)}
	}
	if f := p.trusted; f != nil && f.used != nil && (s.verifyCopy(f.dir, f.used.Files) == nil) == f.Damaged {
		p.trusted = nil // its copy was damaged since, or is whole again
	}
	if p.trusted == nil {
		p.trusted = s.decideContent(root, p, rec)
	}
	return p.trusted
}

func (s *Store) decideContent(root string, p *project, rec record) *TrustedContent {
	f := &TrustedContent{Root: root, ShownAs: filepath.Join(root, hooksFile)}
	use := rec.lastTrusted(root, p.branch)
	f.Status = statusOf(root, p, rec)
	switch f.Status {
	case Trusted:
		use = rec.findContent(p.content.contentHash())
		s.rememberRoot(root)
	case Changed:
		f.Problem = fmt.Sprintf("%s: its hooks changed; the trusted ones stay in force until you run `hookmux trust`",
			root)
		if p.err != nil {
			f.Problem = fmt.Sprintf("%v; the trusted hooks stay in force", p.err)
		}
	case Untrusted:
		f.Problem = fmt.Sprintf("%s: its hooks are not trusted and do not run; look at them with `hookmux trust`", root)
		if p.err != nil {
			f.Problem = fmt.Sprintf("%v; none of the project's hooks run", p.err)
		}
	}
	if use == nil {
		return f
	}
	dir := s.copyDir(p.key, use.Hash)
	f.used, f.dir = use, dir
	err := s.verifyCopy(dir, use.Files)
	if err != nil && f.Status == Trusted && s.repairCopy(root, dir, use.Hash) == nil {
		err = nil
	}
	if err != nil {
		f.Status, f.Damaged = Untrusted, true
		f.Problem = fmt.Sprintf("%s: the trusted copy is damaged (%v); run `hookmux trust` again", root, err)
		return f
	}
	f.copy, f.files = dir, pathSet(use.Files)
	if f.files[hooksFile] {
		f.Hooks = filepath.Join(dir, hooksFile)
	}
	return f
}

func pathSet(files []File) map[string]bool {
	set := map[string]bool{}
	for _, f := range files {
		set[f.Path] = true
	}
	return set
}

func statusOf(root string, p *project, rec record) Status {
	switch {
	case p.err == nil && rec.isTrusted(p.content.contentHash(), root, p.branch):
		return Trusted
	case len(rec.Trusted) > 0:
		return Changed
	case p.err == nil && len(p.content.files) == 0:
		return Absent
	}
	return Untrusted
}

// Rewrite makes a registration of the project run what is trusted: every file
// of the project that its target names is replaced by the trusted copy of it.
// A file that was not there when the project was trusted is refused, rather
// than run unseen.
func (f *TrustedContent) Rewrite(reg hook.Registration) (hook.Registration, error) {
	var refused error
	target := visitWords(reg, func(w word) (string, bool) {
		prefix, rel, ok := inProject(f.Root, w, reg.Handler != "command")
		if !ok {
			return "", false
		}
		if f.files[rel] || w.command && strings.ContainsAny(w.text, "/"+projectMark) {
			return prefix + filepath.Join(f.copy, rel), true
		}
		if info, err := os.Stat(filepath.Join(f.Root, rel)); err == nil && info.Mode().IsRegular() {
			refused = fmt.Errorf("%s: %s was not there when the project was trusted; run `hookmux trust`", reg.ID,
				filepath.Join(f.Root, rel))
		}
		return "", false
	})
	if refused != nil {
		return reg, refused
	}
	reg.Target = target
	return reg, nil
}

// Trust makes the current content at root trusted. hash is the one the user was shown,
// "" for whatever is there; anything else is refused.
func (s *Store) Trust(root, hash string) (*TrustedContent, error) {
	s.mu.Lock()
	root, err := realRoot(root)
	if err == nil {
		var c *content
		if c, err = s.collectContent(root, nil); err == nil {
			switch {
			case hash != "" && hash != c.contentHash():
				err = fmt.Errorf("%s: changed since you looked; look again with `hookmux trust`", root)
			case len(c.files) == 0 && !s.Known(root):
				err = fmt.Errorf("%s: has no %s folder, so there is nothing to trust", root, dirName)
			default:
				err = s.keepCopy(root, c)
			}
		}
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.InForce(root), nil
}

// Retrust lets trust follow one edit of a file in .hookmux that the user made
// through hookmux. It does so only when everything was trusted (or nothing was
// there) before the edit, and the file holds exactly the edited bytes. before
// is nil when the file is new.
func (s *Store) Retrust(root, file string, before, after []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := realRoot(root)
	if err != nil {
		return err
	}
	rel := dirName + "/" + filepath.Base(file)
	p, rec, err := s.readProject(root)
	if err != nil {
		return err
	}
	old, err := s.collectContent(root, &override{rel, before})
	if err != nil {
		return err
	}
	// Nothing there before is as good as trusted only where nothing ever was:
	// deleted guards must not be dropped by adding a hook.
	if (len(old.files) > 0 || len(rec.Trusted) > 0) && !rec.isTrusted(old.contentHash(), root, p.branch) {
		return fmt.Errorf("%s: was not trusted before this change; look at it with `hookmux trust`", root)
	}
	now, err := s.collectContent(root, nil)
	if err != nil {
		return err
	}
	if string(now.bytes[rel]) != string(after) {
		return fmt.Errorf("%s: another program changed it, too; look at it with `hookmux trust`", filepath.Join(root, rel))
	}
	for _, f := range old.files {
		if f.Path == rel {
			continue
		}
		if i := slices.IndexFunc(now.files, func(n File) bool { return n.Path == f.Path }); i >= 0 &&
			now.files[i] != f {
			return fmt.Errorf("%s: changed meanwhile; look at it with `hookmux trust`", filepath.Join(root, f.Path))
		}
	}
	// Other files in .hookmux must be the ones that were trusted; new are only
	// those outside that the edit names.
	for _, f := range now.files {
		isOld := slices.ContainsFunc(old.files, func(o File) bool { return o.Path == f.Path })
		if f.Path != rel && !isOld && strings.HasPrefix(f.Path, dirName+"/") {
			return fmt.Errorf("%s: appeared meanwhile; look at it with `hookmux trust`", filepath.Join(root, f.Path))
		}
	}
	return s.keepCopy(root, now)
}

// Untrust forgets a project, in all its working trees.
func (s *Store) Untrust(root string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := realRoot(root)
	if err != nil {
		return err
	}
	p, rec, _ := s.readProject(root)
	delete(s.projects, root)
	for _, t := range rec.Trusted {
		os.Remove(s.rootMark(t.Root))
	}
	os.Remove(s.rootMark(root))
	s.verified = map[string]*verifiedCopy{}
	return os.RemoveAll(filepath.Join(s.dir, p.key))
}

// Known reports whether hooks were trusted at root, so that a project whose
// .hookmux was deleted is still one.
func (s *Store) Known(root string) bool { return fileExists(s.rootMark(root)) }

// Roots returns the projects whose hooks were trusted, as far as their folders are
// there.
func (s *Store) Roots() []string {
	marks, err := os.ReadDir(filepath.Join(s.dir, "roots"))
	if err != nil {
		return nil
	}
	var list []string
	for _, m := range marks {
		b, err := userfile.ReadFile(filepath.Join(s.dir, "roots", m.Name()), maxPath)
		root := strings.TrimSuffix(string(b), "\n")
		if err == nil && filepath.IsAbs(root) && s.rootMark(root) == filepath.Join(s.dir, "roots", m.Name()) &&
			fileExists(root) {
			list = append(list, root)
		}
	}
	slices.Sort(list)
	return list
}

// maxPath is the longest path of a project that is remembered.
const maxPath = 64 << 10

func (s *Store) rootMark(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(s.dir, "roots", hex.EncodeToString(sum[:12]))
}

func (s *Store) rememberRoot(root string) {
	if mark := s.rootMark(root); !fileExists(mark) {
		_ = userfile.Store(mark, []byte(root+"\n")) // without it only a deletion goes unnoticed
	}
}

// Notice reports, once for every content of a project, that some of it is being ignored and
// the user should know.
func (s *Store) Notice(root string) (string, bool) {
	f := s.InForce(root)
	if f.Problem == "" || f.Status == Trusted {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.projects[f.Root]
	if p == nil || p.content == nil {
		return f.Problem, true
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{p.key, string(f.Status), p.content.contentHash(), textOf(p.err)},
		"\x00")))
	mark := filepath.Join(s.dir, "noticed", hex.EncodeToString(sum[:12]))
	if fileExists(mark) {
		return "", false
	}
	_ = userfile.Store(mark, nil)
	return f.Problem, true
}
