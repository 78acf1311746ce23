package redact

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What programs print every day: sums, ids, versions, paths, sources. One line
// in a thousand may lose a part that is no secret.
func TestOrdinaryOutputStays(t *testing.T) {
	const wanted, perMille = 5 << 20, 1
	var text strings.Builder
	writeOrdinaryOutput(&text)
	made := text.Len()
	readSources(t, &text, wanted-text.Len())
	if text.Len() < wanted {
		t.Fatalf("%d bytes of ordinary output, %d are wanted (%d are made, the rest comes from the sources of the "+
			"toolchain)", text.Len(), wanted, made)
	}
	lines, changed := 0, 0
	redactor := New()
	for line := range strings.Lines(text.String()) {
		lines++
		if got := redactor.Text(line); got != line {
			changed++
			if changed <= 60 {
				t.Logf("%s-> %s", line, got)
			}
		}
	}
	t.Logf("%d of %d lines were changed", changed, lines)
	if changed*1000 > perMille*lines {
		t.Errorf("%d of %d lines were changed, at most %d in a thousand may be", changed, lines, perMille)
	}
}

// readSources appends sources of the toolchain. Files about keys and passwords
// are left out: what is replaced there is right to be replaced.
func readSources(t *testing.T, text *strings.Builder, size int) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("where are the sources of the toolchain? %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	end := text.Len() + size
	for _, dir := range []string{"net/http", "go", "encoding", "reflect", "runtime", "os", "strings", "time", "fmt",
		"testing", "regexp", "text", "html", "database", "cmd/go/internal"} {
		_ = filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || text.Len() >= end {
				return fs.SkipAll
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "cookiejar") {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			b, err := os.ReadFile(path)
			if err == nil {
				text.Write(b)
			}
			return nil
		})
	}
}

// writeOrdinaryOutput makes what programs print with random sums and ids.
func writeOrdinaryOutput(w *strings.Builder) {
	r := rand.New(rand.NewPCG(21, 34))
	random := func(class string, n int) string { return makeSecret(r, class, n) }
	name := func() string {
		parts := []string{"core", "utils", "parser", "stream", "http", "key", "token", "auth", "pass", "secret",
			"cookie", "client", "io", "types", "babel", "react"}
		return parts[r.IntN(len(parts))] + "-" + parts[r.IntN(len(parts))]
	}
	version := func() string { return fmt.Sprintf("%d.%d.%d", r.IntN(30), r.IntN(40), r.IntN(20)) }
	sum := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	if b, err := os.ReadFile("../../go.sum"); err == nil {
		w.Write(b)
	}
	for range 700 {
		n, v := name(), version()
		fmt.Fprintf(w, "    \"node_modules/%s\": {\n      \"version\": \"%s\",\n", n, v)
		fmt.Fprintf(w, "      \"resolved\": \"https://registry.npmjs.org/%s/-/%s-%s.tgz\",\n      \"integrity\": "+
			"\"sha512-%s\",\n    },\n", n, n, v, sum(64))
		fmt.Fprintf(w, "\"%s@npm:^%s\":\n  version: %s\n  resolution: \"%s@npm:%s\"\n  checksum: 10c0/%s\n", n, v, v, n,
			v, random("H", 128))
		fmt.Fprintf(w, "[[package]]\nname = \"%s\"\nversion = \"%s\"\nsource = "+
			"\"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%s\"\n", n, v, random("H", 64))
		fmt.Fprintf(w, "    {file = \"%s-%s-py3-none-any.whl\", hash = \"sha256:%s\"},\n", n, v, random("H", 64))
		fmt.Fprintf(w, "github.com/x/%s v%s h1:%s\ngithub.com/x/%s v0.0.0-20240101000000-%s/go.mod h1:%s\n", n, v,
			sum(32), n, random("H", 12), sum(32))
		fmt.Fprintf(w, "commit %s\nAuthor: A Person <a.person@example.com>\nDate:   Mon Jan 1 10:00:00 2024 "+
			"+0000\n\n    Read the token of the %s once\n\n", random("H", 40), n)
		fmt.Fprintf(w, "%s %s Take the password file's path from --password-file (#%d)\n", random("H", 7), n,
			r.IntN(9000))
		fmt.Fprintf(w, "-rw-r--r-- 1 user group %8d Jan  1 10:00 %s_test.go\ndrwxr-xr-x 2 user group 4096 Jan  1 "+
			"10:00 %s\n", r.IntN(99999), n, n)
		fmt.Fprintf(w, "%s  dist/%s-%s.tar.gz\n%s  %s.iso\n", random("H", 64), n, v, random("H", 32), n)
		fmt.Fprintf(w, "%s   %s:%s   \"docker-entrypoint.s\"   2 hours ago   Up 2 hours   0.0.0.0:8080->80/tcp   %s\n",
			random("H", 12), n, v, n)
		fmt.Fprintf(w, "%s-%s-%s   1/1   Running   0   3d\n", n, random("L", 10), random("L", 5))
		fmt.Fprintf(w, "session_id=%s request_id=%s trace_id=%s span_id=%s\n", random("U", 0), random("U", 0),
			random("H", 32), random("H", 16))
		fmt.Fprintf(w, "{\"uuid\":\"%s\",\"parentUuid\":\"%s\",\"toolUseID\":\"toolu_%s\",\"id\":\"msg_%s\"}\n",
			random("U", 0), random("U", 0), random("A", 24), random("A", 24))
		fmt.Fprintf(w, "--- PASS: Test%s/sub_%d (0.0%ds)\nok  \texample.com/%s\t0.%03ds\n",
			strings.ReplaceAll(n, "-", ""), r.IntN(99), r.IntN(9), n, r.IntN(999))
		fmt.Fprintf(w, "etag: \"%s\"\nx-request-id: %s\ncontent-length: %d\n", random("H", 32), random("U", 0),
			r.IntN(99999))
		fmt.Fprintf(w, "/home/user/.cache/%s/%s/%s/index.js:%d:%d\n", n, random("H", 40), v, r.IntN(999), r.IntN(99))
		fmt.Fprintf(w, "https://example.com/%s/blob/%s/src/%s.go#L%d\n", n, random("H", 40), n, r.IntN(999))
		fmt.Fprintf(w, "  max_tokens: %d, total_tokens: %d, cache_key: %s-%s\n", r.IntN(9999), r.IntN(9999), n,
			random("H", 16))
		fmt.Fprintf(w, "curl -sS -o /tmp/%s.json -w '%%{http_code}' https://example.com/%s?page=%d\nmkdir -p "+
			"build/%s && cp -p a.txt build/%s\n", n, n, r.IntN(9), n, n)
		fmt.Fprintf(w, "docker run -p 8080:80 -u 1000:1000 -e NAME=%s %s:%s\nssh -p 2222 user@host ls -a %s\n", n, n, v,
			n)
		fmt.Fprintf(w, "data:image/png;base64,%s\nsourceMappingURL=data:application/json;base64,%s\n", sum(60),
			base64.StdEncoding.EncodeToString([]byte(`{"version":3,"sources":["`+n+`.ts"],"names":[]}`)))
		fmt.Fprintf(w, "sha256:%s: Pulling from library/%s\nDigest: sha256:%s\n", random("H", 64), n, random("H", 64))
		fmt.Fprintf(w, "%s==%s --hash=sha256:%s\n", n, v, random("H", 64))
		fmt.Fprintf(w, "i-0%s subnet-%s arn:aws:iam::%s:role/%s\n", random("H", 16), random("H", 17), random("N", 12),
			n)
		fmt.Fprintf(w, "goroutine %d [running]:\nmain.(*%s).Token(0xc000%s, {0x%s, 0x1c})\n", r.IntN(99),
			strings.ReplaceAll(n, "-", ""), random("H", 6), random("H", 6))
	}
}
