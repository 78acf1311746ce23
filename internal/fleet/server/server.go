// Package server implements a fleet's server: NATS with JetStream in one process, the roster of
// members, and the central journal. Only hookmux-fleet links it.
//
//   - server.go   opens and runs all of it
//   - roster.go   who belongs to the fleet, and invitations
//   - auth.go     what a connection may publish and subscribe to
//   - exchange.go receives what members send, checks it, stores it and passes it to others
//   - ask.go      what members ask: invite, remove, list, log
//   - central.go  the central journal
//
// Contract: a member is known by its key and nothing else, and can do nothing in another's
// name. What a member was told is stored is in the central journal exactly once, also after
// kill -9. A member that floods, lies or breaks the protocol is rejected and shown in the
// list; others don't notice.
package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// Options configures a server.
type Options struct {
	Dir    string // its folder
	Listen string // host:port; port 0 takes a free one
	// Advertise is how members reach it: host:port. Empty: the address it listens on.
	Advertise []string
	// First becomes the first operator of a new fleet; it is ignored for one that has members.
	First, FirstName string
	// StateTTL is how long a member's state lasts if it isn't renewed; 0: [protocol.StateTTL].
	StateTTL time.Duration
	// Keep and MaxBytes limit the central journal; 0: no limit.
	Keep     time.Duration
	MaxBytes int64
	// NATS is your own cluster, nats://host:port, which then stores what is under way; Creds is the
	// file with the credentials for it. Empty: this process stores.
	NATS  []string
	Creds string
	// Postgres is a file with the URL of the database for the central journal. Empty: an SQLite
	// file.
	Postgres string
	Log      io.Writer // nil: nowhere
	Now      func() time.Time
}

// Server is a fleet's server.
type Server struct {
	o        Options
	log      *slog.Logger
	roster   *roster
	auth     *authenticator
	cert     tls.Certificate
	pin      []byte
	lock     *os.File
	nats     *natsserver.Server
	exchange *exchange
	// violations are what connections did wrong. If there is no room, they are only in the log.
	violations chan violation
}

// violation is what a connection did wrong: a member's, or a client of NATS by its number.
type violation struct {
	member string
	client uint64
	what   string
}

func (s *Server) noteViolation(v violation) {
	select {
	case s.violations <- v:
	default:
	}
}

// Names of files in the folder.
const (
	lockFile    = "lock"
	keyFile     = "fleet.key"
	addressFile = "server.json"
	journalFile = "journal.db"
	storeFolder = "jetstream"
)

// Address is written by the running server for this machine.
type Address struct {
	Listen  string   `json:"listen"`
	Servers []string `json:"servers"`
	Pin     []byte   `json:"pin"`
	Fleet   string   `json:"fleet"`
	PID     int      `json:"pid"`
}

// ErrRunning says that a server runs in this folder already.
var ErrRunning = errors.New("a fleet's server runs there already")

// Open prepares everything and listens.
func Open(o Options) (_ *Server, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.StateTTL == 0 {
		o.StateTTL = protocol.StateTTL
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &Server{o: o, log: slog.New(slog.NewTextHandler(o.Log, nil)), violations: make(chan violation, 256)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	if s.lock, err = os.OpenFile(filepath.Join(o.Dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	for tries := 0; files.TryLock(s.lock) != nil; tries++ {
		if tries == 50 { // a check whether a server runs holds it for a moment
			return nil, ErrRunning
		}
		time.Sleep(20 * time.Millisecond)
	}
	// A server that was killed left its address behind, with a process number that may belong to
	// another process by now.
	if err := os.Remove(filepath.Join(o.Dir, addressFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := s.openKeys(); err != nil {
		return nil, err
	}
	if err := s.startNATS(); err != nil {
		return nil, err
	}
	central, err := s.openCentral()
	if err != nil {
		return nil, err
	}
	if s.exchange, err = openExchange(s, central); err != nil {
		_ = central.Close()
		return nil, err
	}
	return s, s.writeAddress()
}

func (s *Server) openKeys() error {
	seed, err := readSeed(filepath.Join(s.o.Dir, keyFile), func() ([]byte, error) {
		pair, err := nkeys.CreateAccount()
		if err != nil {
			return nil, err
		}
		return pair.Seed()
	})
	if err != nil {
		return err
	}
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(s.o.Dir, keyFile), err)
	}
	if s.cert, err = loadCertificate(s.o.Dir, s.o.Now()); err != nil {
		return err
	}
	if s.pin, err = pinOf(s.cert); err != nil {
		return err
	}
	if s.roster, err = openRoster(s.o.Dir, key); err != nil {
		return err
	}
	if len(s.roster.all()) == 0 && s.o.First != "" {
		if _, err := s.roster.add(s.o.First, s.o.FirstName, protocol.RoleOperator, "", s.o.Now()); err != nil {
			return err
		}
	}
	s.auth = newAuthenticator(s.roster, s.o.Now)
	s.auth.disconnect = func(id uint64) { _ = s.nats.DisconnectClientByID(id) } // it may have ended
	return nil
}

// startWithin limits how long JetStream may take to read what it stored.
const startWithin = time.Minute

func (s *Server) startNATS() error {
	host, port, err := net.SplitHostPort(s.o.Listen)
	if err != nil {
		return fmt.Errorf("%q isn't an address; write one like 0.0.0.0:4670", s.o.Listen)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return err
	}
	if number == 0 {
		number = natsserver.RANDOM_PORT
	}
	s.nats, err = natsserver.NewServer(&natsserver.Options{
		ServerName: "hookmux-fleet", Host: host, Port: number, NoSigs: true,
		TLS: true, TLSTimeout: 10, TLSConfig: &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS13},
		CustomClientAuthentication: s.auth, AlwaysEnableNonce: true, AuthTimeout: 10,
		// The exchange has a subscription for each member.
		MaxPayload: protocol.MaxMessage, MaxSubs: maxMembers + 64, MaxPending: 16 << 20, PingInterval: 20 * time.Second,
		JetStream: true, StoreDir: filepath.Join(s.o.Dir, storeFolder), JetStreamMaxMemory: 64 << 20,
		JetStreamMaxStore: 16 << 30, NoLog: true,
	})
	if err != nil {
		return err
	}
	s.nats.SetLoggerV2(natsLog{s}, false, false, false)
	s.nats.Start()
	if !s.nats.ReadyForConnections(startWithin) {
		return fmt.Errorf("the fleet can't be served at %s: the address is taken, or the disk is too slow; see the log", s.o.Listen)
	}
	return nil
}

// natsLog passes on what goes wrong in NATS. What a member's connection does wrong is blamed on
// the member: subjects of others, messages that are too long, a broken protocol.
type natsLog struct{ *Server }

func (l natsLog) Noticef(string, ...any)         {}
func (l natsLog) Debugf(string, ...any)          {}
func (l natsLog) Tracef(string, ...any)          {}
func (l natsLog) Warnf(format string, v ...any)  { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l natsLog) Fatalf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }

func (l natsLog) Errorf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	l.log.Error(line)
	if found := natsClient.FindStringSubmatch(line); found != nil {
		if client, err := strconv.ParseUint(found[1], 10, 64); err == nil {
			l.noteViolation(violation{client: client, what: "what its connection tried: " + found[2]})
		}
	}
}

// natsClient finds a client's number in a line of NATS's log, and what it did.
var natsClient = regexp.MustCompile(`- cid:(\d+) .*?- ([^-].*)$`)

func (s *Server) openCentral() (central, error) {
	if s.o.Postgres == "" {
		db, err := openSQLite(filepath.Join(s.o.Dir, journalFile))
		return central{db}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	db, err := openPostgres(ctx, s.o.Postgres, schemaOf(s.roster.fleet))
	return central{db}, err
}

// schemaOf returns where PostgreSQL keeps a fleet's journal; a database may have several.
func schemaOf(fleet string) string { return "hookmux_" + strings.ToLower(fleet[1:13]) }

// replicas is the number of nodes on which JetStream stores everything.
func (s *Server) replicas() int {
	if len(s.o.NATS) >= 3 {
		return 3
	}
	return 1
}

// connectStore returns the connection to the store: your own cluster, or own, the exchange's.
func (s *Server) connectStore(own *nats.Conn) (conn *nats.Conn, js jetstream.JetStream, err error) {
	conn = own
	if len(s.o.NATS) > 0 {
		if conn, err = connectCluster(s.o.NATS, s.o.Creds); err != nil {
			return nil, nil, err
		}
	}
	js, err = jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(1024), jetstream.WithPublishAsyncTimeout(8*time.Second))
	return conn, js, err
}

func connectCluster(urls []string, creds string) (*nats.Conn, error) {
	options := []nats.Option{nats.Name("hookmux-fleet"), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(5 * time.Second), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), nats.NoCallbacksAfterClientClose()}
	if creds != "" {
		options = append(options, nats.UserCredentials(creds))
	}
	conn, err := nats.Connect(strings.Join(urls, ","), options...)
	if err != nil {
		return nil, fmt.Errorf("the cluster can't be reached at %s: %w", strings.Join(urls, ", "), err)
	}
	return conn, nil
}

// Erase deletes what a fleet that has ended stored outside of its folder. It returns what it
// couldn't delete, as readable text: what it is, where, and why.
func Erase(ctx context.Context, o Options) (kept []string, err error) {
	seed, err := os.ReadFile(filepath.Join(o.Dir, keyFile))
	if err != nil {
		return nil, err
	}
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, err
	}
	fleet, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	if len(o.NATS) > 0 {
		kept = eraseCluster(ctx, &o, namesOf(fleet))
	}
	if o.Postgres != "" {
		if err := erasePostgres(ctx, &o, fleet); err != nil {
			kept = append(kept, fmt.Sprintf("the schema %s of the database that %s names: %v", schemaOf(fleet), o.Postgres, err))
		}
	}
	return kept, nil
}

func eraseCluster(ctx context.Context, o *Options, n names) (kept []string) {
	where := strings.Join(o.NATS, ", ")
	conn, err := connectCluster(o.NATS, o.Creds)
	if err != nil {
		return []string{fmt.Sprintf("the streams %s, KV_%s and OBJ_%s: %v", n.events, n.hosts, n.policy, err)}
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range []string{n.events, "KV_" + n.hosts, "OBJ_" + n.policy} {
		if err := js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			kept = append(kept, fmt.Sprintf("the stream %s on %s: %v", name, where, err))
		}
	}
	return kept
}

func erasePostgres(ctx context.Context, o *Options, fleet string) error {
	db, err := connectPostgres(ctx, o.Postgres, schemaOf(fleet))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.erase(ctx)
}

// connectExchange returns the server's own connection, in memory.
func (s *Server) connectExchange() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(s.nats), nats.UserInfo(exchangeUser, s.auth.secret), nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond), nats.NoCallbacksAfterClientClose(),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if sub == nil {
				return
			}
			s.log.Warn("flood", "subject", sub.Subject, "error", err)
			if id, ok := protocol.SenderOf(sub.Subject); ok { // a member sends faster than it is heard
				s.noteViolation(violation{member: id, what: errFlood.Error()})
			}
		}))
}

// Servers returns how members reach the server.
func (s *Server) Servers() []string {
	if len(s.o.Advertise) > 0 {
		return slices.Clone(s.o.Advertise)
	}
	return []string{s.nats.Addr().String()}
}

// Addr returns where it listens.
func (s *Server) Addr() string { return s.nats.Addr().String() }

// Fleet returns the fleet's public key.
func (s *Server) Fleet() string { return s.roster.fleet }

func (s *Server) writeAddress() error {
	b, err := json.Marshal(Address{Listen: s.Addr(), Servers: s.Servers(), Pin: s.pin, Fleet: s.roster.fleet, PID: os.Getpid()})
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(s.o.Dir, addressFile), b)
}

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	s.log.Info("the fleet is served", "address", s.Addr(), "members", len(s.roster.all()))
	var running sync.WaitGroup
	running.Go(func() { s.exchange.run(ctx) })
	running.Wait()
	s.Close()
	s.log.Info("the fleet is no longer served")
	return nil
}

// Close releases what Open took. Run does it itself.
func (s *Server) Close() {
	if s.exchange != nil {
		s.exchange.close()
		s.exchange = nil
	}
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
		s.nats = nil
		_ = os.Remove(filepath.Join(s.o.Dir, addressFile))
	}
	if s.lock != nil {
		_ = s.lock.Close()
		s.lock = nil
	}
}
