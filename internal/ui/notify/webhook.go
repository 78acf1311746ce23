package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/selection/config"
)

// webhook posts notices to an address.
type webhook struct {
	settings func() webhookSettings
	client   *http.Client
	now      func() time.Time
}

type webhookSettings struct {
	address, secret string // or file:PATH
	format          string
	chat            string
	home            string
}

func newWebhook(settings func() webhookSettings) *webhook {
	return &webhook{settings: settings, now: time.Now, client: &http.Client{
		Timeout: tellTime,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, // notices are rare
			MaxResponseHeaderBytes: 64 << 10},
		// An address that sends elsewhere would take the text there.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signatureHeader carries t=SECONDS,v1=HEX: HMAC-SHA256 of "SECONDS.BODY".
const signatureHeader = "Hookmux-Signature"

// maxRetryAfter limits how long a server may have us wait.
const maxRetryAfter = 5 * time.Minute

func (w *webhook) show(ctx context.Context, n *Notice) error { return w.post(ctx, n, "notice") }

// withdraw notifies a program that a request no longer waits; chats can't take back.
func (w *webhook) withdraw(ctx context.Context, n *Notice) error {
	if w.settings().format != "json" {
		return nil
	}
	return w.post(ctx, n, "over")
}

func (w *webhook) post(ctx context.Context, n *Notice, what string) error {
	s := w.settings()
	address, err := config.ReadSecret(s.address, s.home)
	if err != nil {
		return err
	}
	if address == "" {
		return absent("`hookmux config set %s -` sets the address", config.NotifyWebhook)
	}
	if err := config.CheckWebhook(address); err != nil {
		return err
	}
	secret, err := config.ReadSecret(s.secret, s.home)
	if err != nil {
		return err
	}
	address, body, err := formatPost(address, &s, n, what)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address of the webhook cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "hookmux")
	if secret != "" {
		request.Header.Set(signatureHeader, signBody(secret, w.now(), body))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return &passingError{err: withoutAddress(err)}
	}
	defer func() { _ = response.Body.Close() }()
	return statusError(response)
}

// statusError returns what a server's answer means.
func statusError(response *http.Response) error {
	code := response.StatusCode
	if code >= 200 && code < 300 {
		return nil
	}
	err := fmt.Errorf("the server answered %d %s", code, http.StatusText(code))
	if code != http.StatusRequestTimeout && code != http.StatusTooManyRequests && code < 500 {
		return err
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return &passingError{err: err, after: min(max(0, time.Duration(seconds)*time.Second), maxRetryAfter)}
}

// withoutAddress returns an error of HTTP that doesn't repeat the address: it may contain a
// token.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return errors.New(err.Error())
}

func signBody(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// posted is posted to programs.
type posted struct {
	Event   string    `json:"event"` // notice, over
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Request string    `json:"request,omitempty"`
	Project string    `json:"project,omitempty"`
	Title   string    `json:"title"`
	Text    string    `json:"text"`
	Next    string    `json:"next,omitempty"`
	Time    time.Time `json:"time"`
}

func newPosted(n *Notice, what string) posted {
	return posted{
		Event: what, ID: n.ID, Kind: n.Kind, Agent: n.Agent, Session: n.Session, Request: n.Request,
		Project: n.Project, Title: n.Title, Text: n.Body, Next: n.Next, Time: n.Time,
	}
}

// formatPost returns what is posted, and where to.
func formatPost(address string, s *webhookSettings, n *Notice, what string) (string, []byte, error) {
	var body any
	switch s.format {
	case "slack":
		body = map[string]any{"text": "*" + slackText(n.Title) + "*\n" + slackText(n.lines()),
			"unfurl_links": false, "unfurl_media": false}
	case "discord":
		body = map[string]any{"content": discordText(n.Title + "\n" + n.lines()),
			"allowed_mentions": map[string]any{"parse": []string{}}, "flags": discordNoPreviews}
	case "telegram":
		if s.chat == "" {
			return "", nil, fmt.Errorf("`hookmux config set %s CHAT` names the chat", config.NotifyChat)
		}
		body = map[string]any{"chat_id": s.chat, "text": telegramText(n.Title + "\n" + n.lines()),
			"link_preview_options": map[string]any{"is_disabled": true}}
	case "ntfy":
		u, err := url.Parse(address)
		if err != nil || strings.Trim(u.Path, "/") == "" {
			return "", nil, errors.New("the address of ntfy must end with the topic")
		}
		topic := path.Base(u.Path)
		u.Path, u.RawPath = strings.TrimSuffix(path.Dir(u.Path), "/")+"/", ""
		address = u.String()
		body = map[string]any{"topic": topic, "title": n.Title, "message": n.lines(), "priority": ntfyPriority(n.Kind)}
	default:
		body = newPosted(n, what)
	}
	b, err := json.Marshal(body)
	return address, b, err
}

func ntfyPriority(kind string) int {
	if kind == kindFinished {
		return 3
	}
	return 4
}

// slackText keeps Slack from reading mentions, links and marks in a text.
func slackText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;",
		"*", "∗", "_", "＿", "`", "ˋ", "~", "∼").Replace(s)
}

// telegramText keeps Telegram from notifying the users and bots that a text names.
func telegramText(s string) string {
	return strings.NewReplacer("@", "＠", " /", " ∕", "\n/", "\n∕").Replace(s)
}

// discordNoPreviews has Discord fetch nothing that a text links to.
const discordNoPreviews = 1 << 2

// discordText keeps Discord from reading marks in a text.
func discordText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "~", `\~`, "|", `\|`, ">", `\>`, "<", `\<`,
		"[", `\[`, "#", `\#`).Replace(s)
}
