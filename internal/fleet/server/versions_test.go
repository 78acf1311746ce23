package server

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
)

// A member of another version of the protocol is told why it can't take part, when it
// joins and later.
func TestOtherVersionsAreRefusedWithAReason(t *testing.T) {
	f := newFleet(t)
	one := f.member("one", protocol.RoleMember)
	for _, c := range []struct {
		version int
		want    string
	}{{protocol.Oldest - 1, "upgrade hookmux there"}, {protocol.Version + 1, "upgrade hookmux here"}} {
		b, _ := json.Marshal(protocol.Ask{What: protocol.AskHello, Version: c.version})
		if told := one.send(protocol.UpAsk, b); !strings.Contains(told.Error, c.want) || told.Version != protocol.Version {
			t.Errorf("a member of version %d is told %q by version %d, want %q", c.version, told.Error, told.Version, c.want)
		}
		if answer := f.joinAs(c.version); !strings.Contains(answer.Error, c.want) {
			t.Errorf("a machine of version %d that joins is told %q, want %q", c.version, answer.Error, c.want)
		}
	}
	if answer := f.joinAs(protocol.Version); answer.Error != "" {
		t.Error(answer.Error)
	}
}

// joinAs joins as a machine whose protocol has a version.
func (f *fleetOf) joinAs(version int) (a protocol.JoinAnswer) {
	f.t.Helper()
	secret, err := f.server.roster.invite(protocol.RoleMember, "boss", time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	conn, err := nats.Connect(f.url(), append(f.options(), nats.UserInfo(protocol.JoinUser, secret),
		nats.CustomInboxPrefix(protocol.Inbox("join_"+protocol.JoinInbox(secret))))...)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	key, _ := nkeys.CreateUser()
	public, _ := key.PublicKey()
	b, _ := json.Marshal(protocol.JoinRequest{Version: version, Secret: secret, Key: public, Name: "new"})
	msg, err := conn.Request(protocol.JoinSubject, b, patience)
	if err == nil {
		err = json.Unmarshal(msg.Data, &a)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}
