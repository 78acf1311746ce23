package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"text/template"
)

// recipes are files for other projects' package managers, and where they go.
var recipes = map[string]string{
	"packaging/homebrew/hookmux.rb.tmpl": "homebrew/hookmux.rb",
	"packaging/aur/PKGBUILD.tmpl":        "aur/PKGBUILD",
	"packaging/aur/SRCINFO.tmpl":         "aur/.SRCINFO",
	"packaging/nix/flake.nix.tmpl":       "nix/flake.nix",
}

// writeRecipes fills in what only a release knows: version, addresses and sums.
func (r *release) writeRecipes() error {
	for from, to := range recipes {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		data, err := r.fillRecipe(from, string(text))
		if err != nil {
			return err
		}
		if err := r.keepFile(to, data); err != nil {
			return err
		}
	}
	script, err := os.ReadFile("packaging/install.sh")
	if err != nil {
		return err
	}
	return r.keepFile("install.sh", []byte(strings.NewReplacer("@VERSION@", r.Version, "@PUBLIC_KEY@", r.PublicKey,
		"@HOME@", r.Home).Replace(string(script))))
}

func (r *release) fillRecipe(name, text string) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"list": func(words ...string) []string { return words },
		"archive": func(system, arch string) *archived {
			for i := range r.Archives {
				if a := &r.Archives[i]; a.System == system && a.Arch == arch {
					return a
				}
			}
			return nil
		},
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, r)
	return out.Bytes(), err
}

func indentedJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	w.SetIndent("", "  ")
	err := w.Encode(value)
	return out.Bytes(), err
}
