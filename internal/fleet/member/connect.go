package member

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
)

// membership is this machine's knowledge of its fleet, on disk.
type membership struct {
	Servers []string        `json:"servers"`
	Pin     []byte          `json:"pin"`
	Fleet   string          `json:"fleet"`
	Seed    []byte          `json:"seed"` // of this machine's key
	Record  protocol.Signed `json:"record"`
	Policy  int64           `json:"policy,omitempty"` // the version that was put in force last
	// Where this machine serves the fleet:
	Program   string   `json:"program,omitempty"`
	Listen    string   `json:"listen,omitempty"`
	Advertise []string `json:"advertise,omitempty"`
	NATS      []string `json:"nats,omitempty"`
	Creds     string   `json:"creds,omitempty"`
	Postgres  string   `json:"postgres,omitempty"`
}

// serverArgs returns the arguments of hookmux-fleet.
func (m *membership) serverArgs(command, dir string) []string {
	args := []string{command, "--dir", dir, "--listen", m.Listen}
	for _, a := range m.Advertise {
		args = append(args, "--advertise", a)
	}
	for _, n := range m.NATS {
		args = append(args, "--nats", n)
	}
	for flag, file := range map[string]string{"--creds": m.Creds, "--postgres": m.Postgres} {
		if file != "" {
			args = append(args, flag, file)
		}
	}
	return args
}

func (m *membership) serves() bool { return m.Program != "" }

// pinnedTLS trusts the certificate whose key the join code named, and no other.
func pinnedTLS(pin []byte) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, ServerName: "hookmux-fleet",
		InsecureSkipVerify: true, // in its place:
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) > 0 {
				if leaf, err := x509.ParseCertificate(raw[0]); err == nil {
					if sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo); bytes.Equal(sum[:], pin) {
						return nil
					}
				}
			}
			return errOtherServer
		}}
}

var errOtherServer = errors.New("the server that answers isn't the fleet's: its certificate is another one")

func urls(servers []string) string {
	list := make([]string, len(servers))
	for i, s := range servers {
		list[i] = "tls://" + s
	}
	return strings.Join(list, ",")
}

// How connections behave.
const (
	dialWithin   = 5 * time.Second
	askWithin    = 10 * time.Second
	longestRetry = 15 * time.Second
)

func common(pin []byte, inbox string) []nats.Option {
	return []nats.Option{nats.Secure(pinnedTLS(pin)), nats.CustomInboxPrefix(inbox), nats.Timeout(dialWithin), nats.NoEcho(),
		nats.IgnoreDiscoveredServers(), nats.ReconnectBufSize(-1), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2)}
}

// retryDelay grows to longestRetry, differently on each machine.
func retryDelay(attempts int) time.Duration {
	span := min(longestRetry, 200*time.Millisecond<<min(attempts, 10))
	return span/2 + rand.N(span/2)
}

// connect connects as a member, and reconnects whenever the connection is lost.
func connect(m *membership, more ...nats.Option) (*nats.Conn, error) {
	pair, err := nkeys.FromSeed(m.Seed)
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	options := append(common(m.Pin, protocol.Inbox(protocol.MemberID(public))),
		nats.Nkey(public, pair.Sign), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(retryDelay))
	return nats.Connect(urls(m.Servers), append(options, more...)...)
}

// join presents a code and returns as a member.
func join(ctx context.Context, text, name string) (*membership, error) {
	code, err := protocol.ReadCode(text)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	m := &membership{Servers: code.Servers, Pin: code.Pin}
	if m.Seed, err = pair.Seed(); err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(urls(code.Servers), append(common(code.Pin, protocol.Inbox("join_"+protocol.JoinInbox(code.Secret))),
		nats.UserInfo(protocol.JoinUser, code.Secret))...)
	if err != nil {
		return nil, explain(err, code.Servers)
	}
	defer conn.Close()
	question, err := json.Marshal(protocol.JoinRequest{Versions: protocol.Spoken, Secret: code.Secret, Key: public, Name: name})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	msg, err := conn.RequestWithContext(ctx, protocol.JoinSubject, question)
	if err != nil {
		return nil, explain(err, code.Servers)
	}
	var answer protocol.JoinAnswer
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		return nil, errors.New("the fleet's server gave an answer that can't be read")
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	if record, err := answer.Record.ReadRecord(answer.Fleet); err != nil || record.Key != public {
		return nil, errors.New("the fleet's server let another machine in than this one")
	}
	m.Fleet, m.Record = answer.Fleet, answer.Record
	return m, nil
}

// explain says in plain language what is wrong, and what to do.
func explain(err error, servers []string) error {
	where := strings.Join(servers, ", ")
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return errors.New("the code was used already, or is too old; ask for another: `hookmux fleet invite`")
	case errors.Is(err, errOtherServer):
		return errOtherServer
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("the fleet's server can't be reached at %s; is the machine on, and the port open?", where)
	}
	return fmt.Errorf("the fleet's server at %s: %w", where, err)
}
