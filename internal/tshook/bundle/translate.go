package bundle

import (
	"path/filepath"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/evanw/esbuild/pkg/api"
)

// How files are read, whether they stand alone or are bundled.
const compilerOptions = `{"compilerOptions":{"experimentalDecorators":true}}`

var newer = map[string]bool{"top-level-await": true}

var (
	typesOnly = lazyregexp.New(`(?m)^\s*import\s+type\s[^;'"]*\bfrom\s*["'][^"'\n]*["']`)
	// reaches are the words without which no file gets at another one.
	reaches = lazyregexp.New(`\b(import|require)\b|\bexport\b[^;]*\bfrom\s*["']`)
	// tellsPlace: somebody asks where his file lies.
	tellsPlace = lazyregexp.New(`\b(__dirname|__filename|import\.meta)\b`)
)

// standsAlone reports whether a file surely needs no other and does not ask
// where it lies. Most hooks import types at the most, and those are erased.
func standsAlone(content []byte) bool {
	return !tellsPlace.Match(content) && !reaches.Match(typesOnly.Compiled().ReplaceAll(content, nil))
}

// translateAlone makes JavaScript of a file that stands alone. Bundling comes to the
// same, but takes several times the memory and keeps it for a while, which fifty
// files feel.
func translateAlone(path string, content []byte) (*Bundle, error) {
	result := api.Transform(string(content), api.TransformOptions{
		Loader: loaderFor(path), Sourcefile: filepath.Base(path), Format: api.FormatESModule,
		Platform: api.PlatformNode, Target: api.ES2023, Supported: newer,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, Charset: api.CharsetUTF8,
		LegalComments: api.LegalCommentsNone,
		TsconfigRaw:   compilerOptions, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return nil, firstError(filepath.Dir(path), result.Errors)
	}
	return &Bundle{Code: string(result.Code), Map: string(result.Map), Inputs: []File{{path, Hash(content)}}}, nil
}
