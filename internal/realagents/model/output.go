package model

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

type obj = map[string]any

// output writes one answer, whole or as server-sent events.
type output struct {
	ctx        context.Context
	w          http.ResponseWriter
	stream     bool
	chunkDelay time.Duration
	begun      bool
}

func newOutput(ctx context.Context, w http.ResponseWriter, stream bool, chunkDelay time.Duration) *output {
	return &output{ctx: ctx, w: w, stream: stream, chunkDelay: chunkDelay}
}

// whole sends v as the complete JSON answer.
func (o *output) whole(v any) { writeJSON(o.w, http.StatusOK, v) }

// event sends one server-sent event; name may be empty.
func (o *output) event(name string, v any) {
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Content-Type", "text/event-stream")
		o.w.Header().Set("Cache-Control", "no-cache")
		o.w.WriteHeader(http.StatusOK)
	}
	var b strings.Builder
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	if s, ok := v.(string); ok {
		b.WriteString("data: " + s + "\n\n")
	} else {
		b.WriteString("data: " + compact(v) + "\n\n")
	}
	_, _ = o.w.Write([]byte(b.String())) // a client that left is noticed through ctx
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
}

// line sends one JSON object on a line of its own.
func (o *output) line(v any) {
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Content-Type", "application/json")
		o.w.WriteHeader(http.StatusOK)
	}
	_, _ = o.w.Write([]byte(compact(v) + "\n")) // a client that left is noticed through ctx
}

// pieces sends a text in small parts, as a real model streams it. It stops when the client is gone.
func (o *output) pieces(text string, send func(part string)) {
	for i, part := range split(text, 40) {
		if i > 0 && !sleep(o.ctx, o.chunkDelay) {
			return
		}
		send(part)
	}
}

// split cuts after at most n runes, never inside one.
func split(text string, n int) []string {
	var parts []string
	r := []rune(text)
	for len(r) > n {
		parts = append(parts, string(r[:n]))
		r = r[n:]
	}
	if len(r) > 0 {
		parts = append(parts, string(r))
	}
	return parts
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	if v == nil {
		w.WriteHeader(status)
		return
	}
	b := compact(v)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b))
}

// compact marshals without HTML escaping, so that commands keep their < and &.
func compact(v any) string {
	b, err := jsonx.Marshal(v)
	if err != nil {
		return fmt.Sprintf("{\"error\":%q}", err.Error())
	}
	return string(b)
}
