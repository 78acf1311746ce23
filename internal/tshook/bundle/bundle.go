// Package bundle turns a TypeScript or JavaScript file and all it imports into one module
// that an engine can run, and maps positions in that module back to the files that the
// author wrote.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/evanw/esbuild/pkg/api"
)

// Error describes what is wrong with a file.
type Error struct {
	Where string // path:line:column, "" when unknown
	Text  string // one line
}

func (e *Error) Error() string { return e.Text }

// Bundle is a file made ready for an engine: one module without imports.
type Bundle struct {
	Code   string   `json:"code"`
	Map    string   `json:"map"`
	Inputs []File   `json:"inputs"` // the file itself first
	Cached bool     `json:"-"`
	Name   string   `json:"-"` // what the engine calls it
	Notes  []string `json:"notes,omitempty"`
}

// File is one file a bundle was made from.
type File struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
}

// bundleForm changes when bundles are made differently, so that old ones are
// not taken from the cache.
const bundleForm = "2 esbuild 0.28.2"

// NameInEngine is the engine's name for the file in its stacks.
const NameInEngine = "hook.ts"

func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Reader returns the content of a file; a trusted copy may replace the real file.
type Reader func(path string) ([]byte, error)

// Make bundles the file at path, from the cache when nothing changed.
func Make(path string, content []byte, read Reader, cacheDir, runtime string) (*Bundle, error) {
	key := Hash([]byte(bundleForm + "\x00" + runtime + "\x00" + path + "\x00" + Hash(content)))
	if b := readCache(cacheDir, key, read); b != nil {
		return b, nil
	}
	b, err := buildBundle(path, content, read, runtime)
	if err != nil {
		return nil, err
	}
	writeCache(cacheDir, key, b)
	return b, nil
}

// readCache returns a bundle whose files are all still what it was made from.
func readCache(dir, key string, read Reader) *Bundle {
	if dir == "" {
		return nil
	}
	text, err := files.Read(filepath.Join(dir, key+".json"), 256<<20)
	if err != nil {
		return nil
	}
	b := &Bundle{Cached: true}
	if json.Unmarshal(text, b) != nil || len(b.Inputs) == 0 {
		return nil
	}
	for _, in := range b.Inputs[1:] { // the first is in the key
		content, err := read(in.Path)
		if err != nil || Hash(content) != in.Hash {
			return nil
		}
	}
	return b
}

// writeCache keeps a bundle; a cache that cannot be written costs time, nothing
// else.
func writeCache(dir, key string, b *Bundle) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm()&0o077 != 0 {
		return // others could put code there
	}
	text, err := json.Marshal(b)
	if err != nil {
		return
	}
	_ = files.Write(filepath.Join(dir, key+".json"), text)
}

// hostModules are the names an engine answers itself.
var hostModules = lazyregexp.New(`^(node:.*|hookmux|typebox(/.*)?|@sinclair/typebox(/.*)?|@(mariozechner|earendil-works)/pi-[a-z-]+(/.*)?)$`)

// nodeModules are Node's own that may be written without node:.
var nodeModules = strings.Fields("assert async_hooks buffer child_process cluster console constants crypto dgram " +
	"diagnostics_channel dns domain events fs fs/promises http http2 https inspector module net os path path/posix " +
	"perf_hooks process punycode querystring readline readline/promises repl stream stream/promises string_decoder " +
	"sys timers timers/promises tls trace_events tty url util v8 vm wasi worker_threads zlib")

func buildBundle(path string, content []byte, read Reader, runtime string) (*Bundle, error) {
	if runtime != "node" && standsAlone(content) {
		return translateAlone(path, content)
	}
	placed := tellsPlace.Match(content)
	b, also, err := bundleImports(path, content, read, runtime, placed)
	if also && !placed {
		b, _, err = bundleImports(path, content, read, runtime, true)
	}
	return b, err
}

// bundleImports makes one module of a file and all it imports. It reports whether one of
// them asks for its own location; with placed it is given one. That costs as much as a small
// file itself.
func bundleImports(path string, content []byte, read Reader, runtime string, placed bool) (_ *Bundle, asks bool,
	_ error) {
	dir := filepath.Dir(path)
	var mu sync.Mutex
	inputs := []File{{path, Hash(content)}}
	plugin := api.Plugin{Name: "hookmux", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{}, nil
			}
			builtin := strings.HasPrefix(a.Path, "node:") || slices.Contains(nodeModules, a.Path)
			switch {
			case builtin && runtime == "node":
				return api.OnResolveResult{Path: a.Path, External: true}, nil
			case builtin || hostModules.MatchString(a.Path):
				return api.OnResolveResult{Path: a.Path, Namespace: "host"}, nil
			}
			return api.OnResolveResult{}, nil
		})
		// The file itself and what it imports beside it are found through
		// read: trusted copies need not be on the disk.
		b.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{Path: path, Namespace: "file"}, nil
			}
			if strings.HasPrefix(a.Path, "./") || strings.HasPrefix(a.Path, "../") {
				if found := findBeside(filepath.Join(a.ResolveDir, a.Path), read); found != "" {
					return api.OnResolveResult{Path: found, Namespace: "file"}, nil
				}
			}
			return api.OnResolveResult{}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "host"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text := "module.exports = globalThis.__require(" + strconv.Quote(a.Path) + ");"
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `\.([cm]?[jt]s|[jt]sx|json)$`, Namespace: "file"},
			func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				text := content
				if a.Path != path {
					var err error
					if text, err = read(a.Path); err != nil {
						return api.OnLoadResult{}, err
					}
					mu.Lock()
					inputs = append(inputs, File{a.Path, Hash(text)})
					asks = asks || tellsPlace.Match(text)
					mu.Unlock()
				}
				source := string(text)
				return api.OnLoadResult{Contents: &source, Loader: loaderFor(a.Path), ResolveDir: filepath.Dir(a.Path)},
					nil
			})
	}}
	var places map[string]string
	if placed {
		places = map[string]string{"import.meta.url": strconv.Quote("file://" + path),
			"import.meta.dirname": strconv.Quote(dir), "import.meta.filename": strconv.Quote(path),
			"__dirname": strconv.Quote(dir), "__filename": strconv.Quote(path)}
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{path}, AbsWorkingDir: dir, Outfile: filepath.Join(dir, "hook.js"), Write: false,
		Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2023, Supported: newer,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, Charset: api.CharsetUTF8,
		LegalComments: api.LegalCommentsNone,
		TsconfigRaw:   compilerOptions, LogLevel: api.LogLevelSilent, KeepNames: false,
		Define:  places,
		Plugins: []api.Plugin{plugin},
	})
	if len(result.Errors) > 0 {
		return nil, asks, firstError(dir, result.Errors)
	}
	out := &Bundle{Inputs: inputs}
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			out.Map = string(f.Contents)
		} else {
			out.Code = string(f.Contents)
		}
	}
	slices.SortFunc(out.Inputs[1:], func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, asks, nil
}

// findBeside finds the file a relative import means.
func findBeside(path string, read Reader) string {
	candidates := []string{path}
	if bare, ok := strings.CutSuffix(path, ".js"); ok {
		candidates = append(candidates, bare+".ts")
	}
	for _, end := range []string{".ts", ".js", ".mts", ".mjs", ".json", "/index.ts", "/index.js"} {
		candidates = append(candidates, path+end)
	}
	for _, c := range candidates {
		if _, err := read(c); err == nil {
			return c
		}
	}
	return ""
}

func loaderFor(path string) api.Loader {
	switch filepath.Ext(path) {
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	case ".jsx":
		return api.LoaderJSX
	case ".json":
		return api.LoaderJSON
	}
	return api.LoaderJS
}

// firstError returns the first thing that is wrong with a file.
func firstError(dir string, errs []api.Message) error {
	first := errs[0]
	p := &Error{Text: first.Text}
	if at := first.Location; at != nil {
		file := at.File
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		p.Where = fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column+1)
	}
	if len(errs) > 1 {
		p.Text += fmt.Sprintf(" (and %d more)", len(errs)-1)
	}
	return p
}
