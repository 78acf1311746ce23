package member

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
)

// runWithServer returns a run of a member that is connected, and the connection of a server that
// answers as the test likes.
func runWithServer(t *testing.T, s *Service, m *membership) (r *run, server *nats.Conn) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(web.Close)
	pin := sha256.Sum256(web.Certificate().RawSubjectPublicKeyInfo)
	broker, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true, TLS: true,
		TLSTimeout: 10, TLSConfig: &tls.Config{Certificates: web.TLS.Certificates}, AlwaysEnableNonce: true})
	if err != nil {
		t.Fatal(err)
	}
	broker.Start()
	t.Cleanup(broker.Shutdown)
	if !broker.ReadyForConnections(10 * time.Second) {
		t.Fatal("no server")
	}
	pair, _ := nkeys.CreateUser()
	public, _ := pair.PublicKey()
	m.Seed, _ = pair.Seed()
	m.Servers, m.Pin = []string{broker.Addr().String()}, pin[:]
	conn, err := connect(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if server, err = nats.Connect(urls(m.Servers), common(m.Pin, "_INBOX_server")...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	r = newRun(s, m)
	r.record.ID = protocol.MemberID(public)
	r.conn.Store(conn)
	for end := time.Now().Add(10 * time.Second); !conn.IsConnected() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	return r, server
}

// A member works with a newer server that also speaks its version, and says why it can't with
// others.
func TestServersOfOtherVersions(t *testing.T) {
	r, other := runWithServer(t, &Service{}, &membership{})
	for _, c := range []struct {
		spoken protocol.Versions
		want   string
	}{
		{protocol.Versions{Version: protocol.Oldest - 1}, "upgrade hookmux there"}, {protocol.Versions{Version: protocol.Version + 1}, "upgrade hookmux here"},
		{protocol.Versions{Version: protocol.Version + 1, Oldest: protocol.Version}, ""}, {protocol.Spoken, ""},
	} {
		answering, err := other.Subscribe(protocol.UpSubject(r.id(), protocol.UpAsk), func(msg *nats.Msg) {
			b, _ := json.Marshal(protocol.Told{Versions: c.spoken})
			_ = msg.Respond(b)
		})
		if err != nil || other.Flush() != nil {
			t.Fatal(err)
		}
		_, err = r.ask(t.Context(), protocol.Ask{What: protocol.AskHello})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("a server of %+v: error %v, want %q", c.spoken, err, c.want)
		}
		_ = answering.Unsubscribe()
		_ = other.Flush()
	}
}
