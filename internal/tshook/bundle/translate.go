package bundle

import (
	"path/filepath"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/evanw/esbuild/pkg/api"
)

// How files are read, whether they are translated alone or bundled.
const compilerOptions = `{"compilerOptions":{"experimentalDecorators":true}}`

var newer = map[string]bool{"top-level-await": true}

var (
	typesOnly = lazyregexp.New(`(?m)^\s*import\s+type\s[^;'"]*\bfrom\s*["'][^"'\n]*["']`)
	// reaches matches the keywords without which no file can load another one.
	reaches = lazyregexp.New(`\b(import|require)\b|\bexport\b[^;]*\bfrom\s*["']`)
	// tellsPlace matches code that asks where its file is.
	tellsPlace = lazyregexp.New(`\b(__dirname|__filename|import\.meta)\b`)
)

// standsAlone reports whether a file surely needs no other and doesn't ask where it is. Most
// hooks import types at most, and those are erased.
func standsAlone(content []byte) bool {
	return !tellsPlace.Match(content) && !reaches.Match(typesOnly.Compiled().ReplaceAll(content, nil))
}

// translateAlone translates a file that stands alone to JavaScript. Bundling has the same
// result, but takes several times the memory and keeps it for a while, which adds up with
// fifty files.
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
