package facts

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// codeWrites are words of code that changes a file.
var codeWrites = []string{"write", "'w", `"w`, "'a'", `"a"`, "'a+", `"a+`, "append", "'>", `">`, "copy", "symlink",
	"O_WRONLY", "O_RDWR", "O_APPEND", "chmod", "rename", "replace(", "move(", "File.open", "touch", "put_contents",
	"mode=\"a",
	"ofstream"}

// codeHomes are words of code that stand for the home directory.
var codeHomes = []string{"HOME", "homedir", "expanduser", "Path.home", "Dir.home", "UserProfile"}

// fileName are words of code that name a file without its folder: .env, key.json.
var fileName = lazyregexp.New(`^(?:\.[A-Za-z][\w-]{2,}(?:\.[\w-]+)*|[\w-]+\.(?:json|ya?ml|toml|ini|cfg|conf|pem|key|crt|p12|env|sql|sqlite|db|tf|tfvars|txt|md|sh|lock))$`)

// gatherCode collects the paths in program text on the command line: python -c,
// node -e, perl -e …
func (c *collector) gatherCode(add func(Access, ...shell.Word), r *shell.Run) {
	code, ok := r.Code()
	if !ok || shell.IsShell(r.Name()) {
		return
	}
	access := Use
	if containsOne(code, codeWrites) {
		access = Write
	}
	atHome := containsOne(code, codeHomes)
	for _, text := range QuotedIn(code) {
		if len(text) < 2 || len(text) > 512 || strings.ContainsAny(text, " \n\t$(){}<>;") ||
			strings.Contains(text, "://") {
			continue
		}
		if atHome && (strings.HasPrefix(text, "/.") || strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "./")) {
			text = "~/" + strings.TrimPrefix(text, "/")
		}
		if text[0] == '/' || text[0] == '~' || strings.Contains(text, "/") || fileName.MatchString(text) {
			add(access, shell.Word{Text: text, Bare: text, Tilde: text[0] == '~'})
		}
	}
}

func containsOne(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
