package redact

// span is one secret: s[start:end] is replaced, kind says by what.
type span struct {
	start, end int
	kind       string
}
