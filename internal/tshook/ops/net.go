package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBody limits a request or an answer that is kept whole.
const maxBody = 16 << 20

// fetchLimit limits one request; a hook's own signal may end it earlier.
const fetchLimit = 5 * time.Minute

func (o *Operations) fetchURL(ctx context.Context, args json.RawMessage, key string) (any, error) {
	v, err := readArgs[struct {
		URL, Method, Redirect string
		Headers               [][2]string
		Body                  []byte
	}](args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, v.Method, v.URL, bytes.NewReader(v.Body))
	if err == nil && req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		err = fmt.Errorf("%s: only http and https can be fetched", v.URL)
	}
	if err != nil {
		o.owner.RecordAction(key, "fetch", v.Method+" "+v.URL, err)
		return nil, err
	}
	for _, h := range v.Headers {
		req.Header.Set(h[0], h[1])
	}
	client := http.Client{}
	if v.Redirect != "follow" {
		client.CheckRedirect = func(*http.Request, []*http.Request) error {
			if v.Redirect == "error" {
				return errors.New("redirected")
			}
			return http.ErrUseLastResponse
		}
	}
	res, err := client.Do(req)
	// Addresses carry secrets in their query; the record has the rest.
	o.owner.RecordAction(key, "fetch", v.Method+" "+req.URL.Scheme+"://"+req.URL.Host+req.URL.Path, err)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("%s: the answer is larger than a hook may take at once (16 MiB)", req.URL.Host)
	}
	headers := map[string]string{}
	for name, values := range res.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return map[string]any{
		"status": res.StatusCode, "statusText": http.StatusText(res.StatusCode), "headers": headers,
		"url": res.Request.URL.String(), "redirected": res.Request.URL.String() != req.URL.String(),
		"body": nonNil(body),
	}, nil
}

type httpAnswer struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

// serveLimit limits how long a caller waits for a hook's answer.
const serveLimit = time.Minute

// listenHTTP serves on this machine only, whatever address was asked for.
func (o *Operations) listenHTTP(id int, args json.RawMessage, key string, data func(any), finish func(any, error)) {
	v, err := readArgs[struct {
		Port int
		Host string
	}](args)
	if err != nil {
		finish(nil, err)
		return
	}
	host := "127.0.0.1"
	if v.Host == "::1" {
		host = "::1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(v.Port)))
	o.owner.RecordAction(key, "listen", net.JoinHostPort(host, strconv.Itoa(v.Port)), err)
	if err != nil {
		finish(nil, err)
		return
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.serveHTTP(w, r, data) })}
	o.keepStopper(id, func() { _ = server.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	data(map[string]any{"listening": map[string]any{"port": port, "address": host, "family": "IPv4"}})
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			finish(nil, err)
		}
	}()
}

// fromPage has the Sec-Fetch-Site values of cross-origin requests; a picture's request
// carries no Origin.
var fromPage = map[string]bool{"cross-site": true, "same-site": true}

// serveHTTP passes one request to the hook. A web page of some site can reach this machine's
// ports too; its requests carry another origin and are rejected.
func (o *Operations) serveHTTP(w http.ResponseWriter, r *http.Request, data func(any)) {
	if r.Header.Get("Origin") != "" || fromPage[r.Header.Get("Sec-Fetch-Site")] || !isLocal(r.Host) {
		http.Error(w, "only programs on this machine may call a hook", http.StatusForbidden)
		return
	}
	size := r.ContentLength
	if size > maxBody {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	if size < 0 {
		size = maxBody // it says nothing of its length
	}
	if !o.requestLimit.reserve(size) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the hook has too many requests to answer already", http.StatusServiceUnavailable)
		return
	}
	defer o.requestLimit.giveBack(size)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	// Callers that leave again must not fill the queue of a hook that is behind.
	for o.engine.IsQueueFull() {
		select {
		case <-r.Context().Done():
			return
		case <-o.ctx.Done():
			http.Error(w, "the hook was unloaded", http.StatusServiceUnavailable)
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	answer := make(chan httpAnswer, 1)
	o.mu.Lock()
	o.requested++
	request := o.requested
	o.requests[request] = answer
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.requests, request)
		o.mu.Unlock()
	}()
	headers := map[string]string{"host": r.Host}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	data(map[string]any{"request": request, "method": r.Method, "url": r.URL.RequestURI(), "headers": headers,
		"remote": r.RemoteAddr, "body": nonNil(body)})
	timer := time.NewTimer(serveLimit)
	defer timer.Stop()
	select {
	case a := <-answer:
		for name, value := range a.Headers {
			w.Header().Set(name, value)
		}
		if a.Status < 100 || a.Status > 999 {
			a.Status = http.StatusInternalServerError
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body)
	case <-r.Context().Done():
	case <-o.ctx.Done():
		http.Error(w, "the hook was unloaded", http.StatusServiceUnavailable)
	case <-timer.C:
		http.Error(w, "the hook did not answer", http.StatusGatewayTimeout)
	}
}

func isLocal(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

func (o *Operations) respondHTTP(args json.RawMessage) error {
	v, err := readArgs[struct {
		Request int
		httpAnswer
	}](args)
	if err != nil {
		return err
	}
	o.mu.Lock()
	answer := o.requests[v.Request]
	delete(o.requests, v.Request)
	o.mu.Unlock()
	if answer != nil {
		answer <- v.httpAnswer
	}
	return nil
}
