package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

//go:embed page
var pageFiles embed.FS

// served is a file as it's sent.
type served struct {
	kind          string
	plain, zipped []byte
	tag           string // of the content
}

func newServed(kind string, plain []byte) served {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(plain)
	_ = z.Close()
	return served{kind: kind, plain: plain, zipped: b.Bytes(), tag: fmt.Sprintf(`"%x"`, sha256.Sum256(plain))}
}

// contentTypes are hookmux's own, whatever this machine's table says.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".png": "image/png",
}

func pageFile(name string) []byte {
	content, _ := pageFiles.ReadFile("page/" + name) // embedded: a name that isn't there has no content
	return content
}

// files are what the page asks for by itself, by their path.
var files = sync.OnceValue(func() map[string]served {
	table := map[string]served{}
	entries, _ := pageFiles.ReadDir("page") // embedded: it's there
	for _, entry := range entries {
		name := entry.Name()
		kind := path.Ext(name)
		if kind == ".html" || kind == ".css" || kind == ".js" && name != "sw.js" {
			continue // the page, or in it
		}
		text := pageFile(name)
		if kind == ".js" {
			text = minify(text, api.LoaderJS)
		}
		table["/"+name] = newServed(contentTypes[kind], text)
	}
	return table
})

// document is the page with its scripts and style in it: on a slow network every separate file
// costs a phone a sixth of a second. boot.js comes first and asks for what waits while the rest
// is being loaded.
var document = sync.OnceValue(func() (d struct{ html, scripts, style string }) {
	m := &modules{read: pageFile, done: map[string]bool{}}
	d.html = string(pageFile("index.html"))
	inside := func(reference, open string, text []byte) string {
		d.html = strings.Replace(d.html, reference, open+string(text)+"</"+open[1:], 1)
		sum := sha256.Sum256(text)
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	// A picture of its own would be another request, and costs more to draw.
	d.html = strings.Replace(d.html, `<img src="/icon.svg" alt="" width="28" height="28">`, string(bytes.TrimSpace(pageFile("icon.svg"))), 1)
	for _, name := range []string{"boot", "app"} {
		d.scripts += inside(`<script src="/`+name+`.js"></script>`, "<script>", minify([]byte(m.script(name)), api.LoaderJS))
	}
	d.style = inside(`<link rel="stylesheet" href="/app.css">`, "<style>", minify(pageFile("app.css"), api.LoaderCSS))
	return d
})

// pageFor returns the page of one run of the server. It includes what [server.helloHandler]
// returns: a phone on a slow network needn't ask for that, too.
func pageFor(instance string) served {
	return newServed(contentTypes[".html"], []byte(strings.Replace(document().html, `data-instance=""`, `data-instance="`+instance+`"`, 1)))
}

// contentPolicy lets the page contact its own server and no other, and keeps text from
// becoming markup or script. The page itself may also run the scripts that are in it.
const contentPolicy = "default-src 'none'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types hookmux"

func (v *server) pageHandler(w http.ResponseWriter, r *http.Request) {
	d := document()
	w.Header().Set("Content-Security-Policy", contentPolicy+"; script-src"+d.scripts+"; style-src"+d.style)
	sendFile(w, r, v.page())
}

func fileHandler(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "files are only read", http.StatusMethodNotAllowed)
		return
	}
	file, ok := files()[r.URL.Path]
	if !ok {
		http.Error(w, "there's nothing here", http.StatusNotFound)
		return
	}
	sendFile(w, r, file)
}

func sendFile(w http.ResponseWriter, r *http.Request, file served) {
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("ETag", file.tag)
	if r.Header.Get("If-None-Match") == file.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	content := file.plain
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		content = file.zipped
	}
	_, _ = w.Write(content)
}

func acceptsGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}
