package packstore

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// Origin is where a pack comes from.
type Origin struct {
	// Folder is the absolute path of a folder; "" for a git repository.
	Folder string `json:"folder,omitempty"`
	// URL and Ref name a repository, and a tag, branch or commit of it.
	URL string  `json:"url,omitempty"`
	Ref string  `json:"ref,omitempty"`
	Is  RefKind `json:"is,omitempty"`
	// Commit is the commit of Ref when the pack was added.
	Commit string `json:"commit,omitempty"`
	// Sub is the folder of the repository that holds the pack; "" for its root.
	Sub string `json:"sub,omitempty"`
}

// RefKind is the kind of a ref.
type RefKind string

// The kinds. A tag stays what it is; a branch moves.
const (
	Tag    RefKind = "tag"
	Branch RefKind = "branch"
	Commit RefKind = "commit"
)

// String returns the origin as a user writes it.
func (o Origin) String() string {
	if o.Folder != "" {
		return o.Folder
	}
	return o.WithRef(o.Ref)
}

// WithRef returns the address of a pack in a repository with another version.
func (o Origin) WithRef(ref string) string {
	text := gitPrefix + o.URL + "@" + ref
	if o.Sub != "" {
		text += subMark + o.Sub
	}
	return text
}

// SamePlace reports whether two origins are the same folder or repository.
func (o Origin) SamePlace(other Origin) bool {
	return o.Folder == other.Folder && o.URL == other.URL && o.Sub == other.Sub
}

const (
	gitPrefix = "git+"
	subMark   = "//" // comes before a folder of a repository
)

var (
	refName    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,99}$`)
	commitName = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	protocols  = []string{"https", "ssh", "file"}
)

// ParseOrigin reads what a user wrote: a folder, git+URL@REF, or git+URL@REF//FOLDER for a
// pack that isn't at the root of its repository.
func ParseOrigin(text, cwd string) (Origin, error) {
	rest, isGit := strings.CutPrefix(text, gitPrefix)
	if !isGit {
		if strings.Contains(text, "://") {
			return Origin{}, fmt.Errorf("a git repository begins with %s: %[1]s%s@VERSION", gitPrefix, text)
		}
		if host, path, ok := strings.Cut(text, "/"); ok && strings.Contains(host, ".") && strings.Trim(host, ".") != "" {
			if _, err := os.Stat(filepath.Join(cwd, text)); err != nil {
				return Origin{}, fmt.Errorf("there's no folder %s; for a git repository, write git+https://%[1]s@VERSION", host+"/"+path)
			}
		}
		if text == "" {
			return Origin{}, errors.New("name a folder or git+URL@VERSION")
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(cwd, text)
		}
		return Origin{Folder: filepath.Clean(text)}, nil
	}
	var o Origin
	scheme, address, _ := strings.Cut(rest, "://")
	if address, sub, found := strings.Cut(address, subMark); found {
		if rest, o.Sub = scheme+"://"+address, strings.TrimSuffix(sub, "/"); !isPackFolder(o.Sub) {
			return Origin{}, fmt.Errorf("%q isn't a folder in a repository", sub)
		}
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 || at < strings.LastIndexByte(rest, '/') {
		return Origin{}, fmt.Errorf("%q names no version; add a tag or commit: %s@v1.2.3", text, text)
	}
	o.URL, o.Ref = rest[:at], rest[at+1:]
	if o.Ref == "" {
		return Origin{}, fmt.Errorf("%q names no version; add a tag or commit: %sv1.2.3", text, text)
	}
	if err := checkURL(o.URL); err != nil {
		return Origin{}, err
	}
	return o, checkRef(o.Ref)
}

// isPackFolder reports whether a folder of a repository may hold a pack.
func isPackFolder(name string) bool {
	if !isPlainPath(name) || strings.HasPrefix(name, "-") {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.EqualFold(part, ".git")
	})
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q isn't a URL: %w", text, err)
	case !slices.Contains(protocols, u.Scheme):
		return fmt.Errorf("%q: packs come by %s", text, strings.Join(protocols, ", "))
	case u.User != nil && hasPassword(u):
		return errors.New("the URL contains a password, which would be stored; use ssh for a private repository")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q: the URL of a repository has neither ? nor #", text)
	case u.Scheme != "file" && u.Host == "", u.Scheme == "file" && u.Host != "":
		return fmt.Errorf("%q isn't the URL of a repository", text)
	case strings.HasPrefix(u.Host, "-"), u.User != nil && strings.HasPrefix(u.User.Username(), "-"),
		strings.ContainsAny(text, " \t\r\n\\'\"`$"):
		return fmt.Errorf("%q isn't the URL of a repository", text)
	}
	return nil
}

func hasPassword(u *url.URL) bool { _, has := u.User.Password(); return has }

func checkRef(ref string) error {
	if !refName.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "//") ||
		strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".lock") {
		return fmt.Errorf("%q can't be a tag, a branch or a commit", ref)
	}
	return nil
}
