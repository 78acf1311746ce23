package wire

// Methods about packs of rules.
const (
	MethodPackAdd  = "packs.add"
	MethodPackDrop = "packs.remove"
)

// PackFile is one file of a pack, by its name from the pack's folder.
type PackFile struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// PackOrigin is where a pack comes from: a folder, or a commit of a repository.
type PackOrigin struct {
	Folder string `json:"folder,omitempty"`
	URL    string `json:"url,omitempty"`
	Ref    string `json:"ref,omitempty"`
	Is     string `json:"is,omitempty"` // tag, branch, commit
	Commit string `json:"commit,omitempty"`
	Sub    string `json:"sub,omitempty"` // the folder of the repository
}

// PackAddParams adds a pack as the user saw it. Replaces is the hash of the one that it replaces; ""
// if there is none of this name.
type PackAddParams struct {
	Files    []PackFile `json:"files"`
	Origin   PackOrigin `json:"origin"`
	Replaces string     `json:"replaces,omitempty"`
}

// PackDropParams forgets a pack.
type PackDropParams struct {
	Name string `json:"name"`
}

// PackResult says what is in effect now.
type PackResult struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Rules   int    `json:"rules"`
}
