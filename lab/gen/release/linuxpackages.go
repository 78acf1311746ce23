package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// nfpm builds .deb and .rpm. No program links it.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0"

// packageConfig is the part of nfpm's configuration that is used here.
type packageConfig struct {
	Name        string            `yaml:"name"`
	Arch        string            `yaml:"arch"`
	Platform    string            `yaml:"platform"`
	Version     string            `yaml:"version"`
	Release     string            `yaml:"release"`
	Section     string            `yaml:"section"`
	Priority    string            `yaml:"priority"`
	Maintainer  string            `yaml:"maintainer"`
	Description string            `yaml:"description"`
	Homepage    string            `yaml:"homepage"`
	License     string            `yaml:"license"`
	MTime       time.Time         `yaml:"mtime"`
	Contents    []packageFile     `yaml:"contents"`
	Scripts     map[string]string `yaml:"scripts"`
	RPM         map[string]string `yaml:"rpm"`
}

type packageFile struct {
	Source   string         `yaml:"src"`
	Place    string         `yaml:"dst"`
	FileInfo map[string]any `yaml:"file_info"`
}

// linuxPlaces maps the files of an archive to their places in a package. A place that ends with a
// slash is a folder.
var linuxPlaces = []struct{ from, to string }{
	{"bin/", "/usr/bin/"},
	{"share/systemd/user/", "/usr/lib/systemd/user/"},
	{docFolder + "LICENSE", "/usr/share/doc/hookmux/copyright"},
	{"share/", "/usr/share/"},
}

func linuxPlace(name string) string {
	for _, p := range linuxPlaces {
		rest, ok := strings.CutPrefix(name, p.from)
		switch {
		case !ok:
		case p.to == "":
			return ""
		case strings.HasSuffix(p.to, "/"):
			return p.to + rest
		default:
			return p.to
		}
	}
	return ""
}

// writeLinuxPackages writes a .deb and an .rpm for each Linux.
func (r *release) writeLinuxPackages() error {
	for _, a := range r.Linux() {
		dir := filepath.Join(r.work, "package-"+a.Arch)
		config := packageConfig{
			Name: "hookmux", Arch: a.Arch, Platform: "linux", Version: r.Version, Release: "1", Section: "utils",
			Priority: "optional", Maintainer: "hookmux <" + r.Home + ">", Homepage: r.Home, License: "Apache-2.0",
			Description: "One inbox and one set of guardrails for all your coding agents\n" +
				"Shows what your coding agents do, lets you answer them from one place,\nand guards every tool call.",
			MTime: r.when,
			RPM:   map[string]string{"buildhost": "localhost", "compression": "gzip"},
		}
		script, err := os.ReadFile("packaging/linux/before-remove.sh")
		if err != nil {
			return err
		}
		before := filepath.Join(dir, "before-remove.sh")
		if err := writeProgram(before, script); err != nil {
			return err
		}
		config.Scripts = map[string]string{"preremove": before}
		files := append([]file(nil), a.files...)
		sort.Slice(files, func(i, j int) bool { return files[i].name < files[j].name })
		for _, f := range files {
			place := linuxPlace(f.name)
			if place == "" {
				continue
			}
			if strings.HasPrefix(f.name, "share/man/") || f.name == docFolder+"CHANGELOG.md" {
				if f.data, err = compress(f.data); err != nil {
					return err
				}
				place += ".gz"
			}
			from := filepath.Join(dir, filepath.FromSlash(f.name))
			if err := writeProgram(from, f.data); err != nil {
				return err
			}
			config.Contents = append(config.Contents, packageFile{Source: from, Place: place,
				FileInfo: map[string]any{"mode": f.mode, "mtime": r.when, "owner": "root", "group": "root"}})
		}
		text, err := yaml.Marshal(config)
		if err != nil {
			return err
		}
		at := filepath.Join(dir, "nfpm.yaml")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return err
		}
		for packager, name := range map[string]string{
			"deb": fmt.Sprintf("hookmux_%s_%s.deb", r.Version, a.Arch),
			"rpm": fmt.Sprintf("hookmux-%s-1.%s.rpm", r.Version, a.Pacman()),
		} {
			cmd := exec.Command("go", "run", "-trimpath", nfpm, "package", "--config", at, "--packager", packager,
				"--target", filepath.Join(r.out, name))
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
			if err := runLogged(cmd); err != nil {
				return err
			}
			if err := r.noteFile(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeProgram(at string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o755)
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// npmProcessor is Node's name for a processor.
var npmProcessor = map[string]string{"amd64": "x64", "arm64": "arm64"}

// writeNPMPackages writes a package with the launcher, and one with the programs for
// each system, of which npm installs the right one.
func (r *release) writeNPMPackages() error {
	launcher, err := os.ReadFile("packaging/npm/launcher.sh")
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("packaging/npm/README.md")
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	common := map[string]any{"version": r.Version, "license": "Apache-2.0", "homepage": r.Home,
		"repository": map[string]string{"type": "git", "url": "git+" + r.Home + ".git"}}
	fitting := map[string]string{}
	for _, a := range r.Archives {
		name := "hookmux-" + a.System + "-" + npmProcessor[a.Arch]
		fitting[name] = r.Version
		own := map[string]any{"name": name, "description": "hookmux for " + a.System + " " + npmProcessor[a.Arch],
			"os": []string{a.System}, "cpu": []string{npmProcessor[a.Arch]}, "preferUnplugged": true}
		files := []file{{"LICENSE", 0o644, license}}
		for _, f := range a.files {
			if path.Dir(f.name) == "bin" || strings.HasPrefix(f.name, "share/") {
				files = append(files, f)
			}
		}
		if err := r.writeNPMPackage(name, own, common, files); err != nil {
			return err
		}
	}
	return r.writeNPMPackage("hookmux", map[string]any{
		"name": "hookmux", "description": "One inbox and one set of guardrails for all your coding agents",
		"keywords":             []string{"coding-agent", "hooks", "claude-code", "codex", "guard"},
		"bin":                  map[string]string{"hookmux": "launcher.sh"},
		"optionalDependencies": fitting,
	}, common, []file{{"launcher.sh", 0o755, launcher}, {"README.md", 0o644, readme}, {"LICENSE", 0o644, license}})
}

// writeNPMPackage packs files as `npm pack` does.
func (r *release) writeNPMPackage(name string, own, common map[string]any, files []file) error {
	for key, value := range common {
		own[key] = value
	}
	description, err := indentedJSON(own)
	if err != nil {
		return err
	}
	data, err := archive("package", append(files, file{"package.json", 0o644, description}), r.when)
	if err != nil {
		return err
	}
	return r.keepFile(fmt.Sprintf("npm/%s-%s.tgz", name, r.Version), data)
}
