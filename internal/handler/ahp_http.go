package handler

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// httpCarrier posts each message to an address.
type httpCarrier struct {
	address string
	options hook.AHP
	client  *http.Client
}

func newHTTPCarrier(address string, options hook.AHP) (*httpCarrier, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("ahp: target is no address")
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableCompression: true, ForceAttemptHTTP2: true,
		MaxIdleConns: 4, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
	if u.Scheme != "https" {
		// Whatever the name means on this machine: unencrypted it stays here.
		transport.Proxy = nil
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(address)
			if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
				return errNotHere
			}
			return nil
		}
	}
	return &httpCarrier{address: address, options: options, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

var errNotHere = errors.New("the address leads to another machine, where events would go unencrypted; write https")

func (c *httpCarrier) deliver(ctx context.Context, call *hook.Call, message []byte, read readAnswer) error {
	started := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(message))
	if err != nil {
		return errors.New("target is no address")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "hookmux")
	if err := c.addSecrets(request.Header, variable(call)); err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return requestFailure(ctx, started, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxStdout+1))
	switch {
	case err != nil:
		return requestFailure(ctx, started, err)
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return fmt.Errorf("answered with a redirect (HTTP %d), which is not followed; write the address it leads "+
			"to", response.StatusCode)
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("refused the request (HTTP %d); name the variable that holds the token in ahp.tokenEnv",
			response.StatusCode)
	case read == nil && (response.StatusCode == http.StatusAccepted || response.StatusCode == http.StatusNoContent):
		return nil
	case read == nil || response.StatusCode != http.StatusOK:
		return fmt.Errorf("answered with HTTP %d", response.StatusCode)
	case len(body) > maxStdout:
		return errors.New("answered with more than 1 MiB")
	}
	said := response.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(said); err != nil || kind != "application/json" {
		return fmt.Errorf("answered with the content type %q, not application/json", termsafe.CutMarked(said, 60))
	}
	return read(body)
}

// addSecrets puts the values of variables into headers. One that is missing is a
// failure: nothing is sent without it.
func (c *httpCarrier) addSecrets(header http.Header, get func(string) string) error {
	if name := c.options.TokenEnv; name != "" {
		value := get(name)
		if value == "" {
			return fmt.Errorf("the variable %s, which shall hold the token, is empty here and in the daemon; set it "+
				"where the agent is started", name)
		}
		header.Set("Authorization", "Bearer "+value)
	}
	for field, name := range c.options.HeadersEnv {
		value := get(name)
		if value == "" {
			return fmt.Errorf("the variable %s, which shall hold the header %s, is empty here and in the daemon; set it "+
				"where the agent is started", name, field)
		}
		header.Set(field, value)
	}
	return nil
}

// requestFailure says what went wrong without the address: it may hold a secret.
func requestFailure(ctx context.Context, started time.Time, err error) error {
	if ctx.Err() != nil {
		return gaveUp(ctx, started)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && !errors.Is(err, errNotHere) {
		err = op.Err
	}
	return fmt.Errorf("cannot be reached: %w", err)
}
