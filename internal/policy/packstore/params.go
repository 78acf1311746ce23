package packstore

import "github.com/hookmux/hookmux/internal/wire"

// FromParams makes a pack of what a program sends to the daemon.
func FromParams(p *wire.PackAddParams) (*Pack, Origin, error) {
	files := make([]File, len(p.Files))
	for i, f := range p.Files {
		files[i] = File{f.Path, f.Data}
	}
	origin := Origin{Folder: p.Origin.Folder, URL: p.Origin.URL, Ref: p.Origin.Ref, Is: RefKind(p.Origin.Is),
		Commit: p.Origin.Commit, Sub: p.Origin.Sub}
	pack, err := NewPack(files)
	return pack, origin, err
}

// Params returns what a program sends to the daemon to add a pack.
func (p *Pack) Params(origin Origin, replaces string) wire.PackAddParams {
	out := wire.PackAddParams{Replaces: replaces, Origin: wire.PackOrigin{Folder: origin.Folder, URL: origin.URL,
		Ref: origin.Ref, Is: string(origin.Is), Commit: origin.Commit, Sub: origin.Sub}}
	for _, f := range p.Files {
		out.Files = append(out.Files, wire.PackFile{Path: f.Path, Data: f.Data})
	}
	return out
}
