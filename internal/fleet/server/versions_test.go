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

// A newer member that also speaks this version takes part. One that doesn't, or an older one, is
// told why it can't, when it joins and later.
func TestOtherVersions(t *testing.T) {
	f := newFleet(t)
	one := f.member("one", protocol.RoleMember)
	for _, c := range []struct {
		spoken protocol.Versions
		want   string
	}{
		{protocol.Versions{Version: protocol.Oldest - 1}, "upgrade hookmux there"}, {protocol.Versions{Version: protocol.Version + 1}, "upgrade hookmux here"},
		{protocol.Versions{Version: protocol.Version + 1, Oldest: protocol.Version}, ""}, {protocol.Spoken, ""},
	} {
		b, _ := json.Marshal(protocol.Ask{What: protocol.AskHello, Versions: c.spoken})
		if told := one.send(protocol.UpAsk, b); !strings.Contains(told.Error, c.want) || c.want == "" && told.Error != "" || told.Versions != protocol.Spoken {
			t.Errorf("a member of %+v is told %q by %+v, want %q", c.spoken, told.Error, told.Versions, c.want)
		}
		if answer := f.joinAs(c.spoken); !strings.Contains(answer.Error, c.want) || c.want == "" && answer.Error != "" {
			t.Errorf("a machine of %+v that joins is told %q, want %q", c.spoken, answer.Error, c.want)
		}
	}
}

// joinAs joins as a machine that speaks some versions of the protocol.
func (f *fleetOf) joinAs(spoken protocol.Versions) (a protocol.JoinAnswer) {
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
	b, _ := json.Marshal(protocol.JoinRequest{Versions: spoken, Secret: secret, Key: public, Name: "new"})
	msg, err := conn.Request(protocol.JoinSubject, b, patience)
	if err == nil {
		err = json.Unmarshal(msg.Data, &a)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}
