package protocol

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/recorder/journal"
)

func TestCodeSurvivesItsText(t *testing.T) {
	c := Code{Servers: []string{"desk.example:4670"}, Pin: make([]byte, 32), Secret: NewSecret()}
	got, err := ReadCode(" " + c.String() + "\n")
	if err != nil || got.Secret != c.Secret || got.Servers[0] != c.Servers[0] {
		t.Errorf("got %+v, error %v; want %+v", got, err, c)
	}
	for _, bad := range []string{"", "hmf1-", "hmf1-e30", c.String()[:40], strings.ToUpper(c.String())} {
		if _, err := ReadCode(bad); err == nil {
			t.Errorf("%q is read; want an error", bad)
		}
	}
}

func TestOnlyTheFleetMakesRecords(t *testing.T) {
	fleet, _ := nkeys.CreateAccount()
	other, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	fleetPublic, _ := fleet.PublicKey()
	key, _ := user.PublicKey()
	good := Record{Fleet: fleetPublic, ID: MemberID(key), Name: "a", Role: RoleOperator, Key: key}
	alien, unknown, stolen := good, good, good
	alien.Fleet, _ = other.PublicKey()
	unknown.Role = "owner"
	stolen.ID = "m000000000000"
	var reader RecordReader // remembers the good one
	for _, one := range []struct {
		what   string
		signer nkeys.KeyPair
		record Record
		want   error
	}{
		{"as it should be", fleet, good, nil},
		{"signed by another fleet", other, good, ErrSignature},
		{"of another fleet", fleet, alien, ErrSignature},
		{"with an unknown role", fleet, unknown, ErrSignature},
		{"with an id that isn't the key's", fleet, stolen, ErrSignature},
		{"signed by the member itself", user, good, ErrSignature},
	} {
		signed, err := Sign(one.signer, one.record)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signed.ReadRecord(fleetPublic); !errors.Is(err, one.want) {
			t.Errorf("%s: error %v, want %v", one.what, err, one.want)
		}
		for range 2 {
			if _, err := reader.Read(signed, fleetPublic); !errors.Is(err, one.want) {
				t.Errorf("%s, read after others: error %v, want %v", one.what, err, one.want)
			}
		}
		forged := signed
		forged.Signature = append([]byte{1}, forged.Signature[1:]...)
		if _, err := reader.Read(forged, fleetPublic); err == nil {
			t.Errorf("%s: another signature is believed", one.what)
		}
		signed.Text += " "
		if _, err := signed.ReadRecord(fleetPublic); err == nil {
			t.Errorf("%s: a changed text is believed", one.what)
		}
		if _, err := reader.Read(signed, fleetPublic); err == nil {
			t.Errorf("%s: a changed text is believed after the right one", one.what)
		}
	}
}

// Every event that is stored on a machine can leave it: one that the server refused would hold
// up all later ones.
func TestStoredEventsPassTheCheck(t *testing.T) {
	for name, change := range map[string]func(*journal.Stored){
		"a long folder":       func(s *journal.Stored) { s.Cwd = strings.Repeat("d", maxText) + "…" }, // as the journal cuts it
		"null characters":     func(s *journal.Stored) { s.Tool, s.Session, s.Native = "a\x00b", "\x00", "\x00" },
		"no text":             func(s *journal.Stored) { s.Cwd = strings.Repeat("\xff", maxText) },
		"a long who":          func(s *journal.Stored) { s.Outcome.By = strings.Repeat("ü", maxText) },
		"a null in an author": func(s *journal.Stored) { s.Outcome.By = "a\x00b" },
	} {
		s := journal.Stored{Row: journal.Row{ID: "e1", Time: time.Now(), Agent: "claude"}, Outcome: &journal.Outcome{Time: time.Now()}}
		change(&s)
		e := EventOf(&s, true)
		b, err := json.Marshal(&e)
		if err != nil || json.Unmarshal(b, &e) != nil { // as it arrives
			t.Fatal(err)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%s: the server refuses %v", name, err)
		}
	}
}

func TestVersions(t *testing.T) {
	for spoken, want := range map[Versions]string{
		{Version: Version}: "", {Version: Version + 1, Oldest: Version}: "",
		{Version: Oldest - 1}: "upgrade hookmux there", {Version: Version + 1}: "upgrade hookmux here",
		{Version: Version + 2, Oldest: Version + 1}: "upgrade hookmux here",
	} {
		if err := spoken.Check("it"); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: error %v, want %q", spoken, err, want)
		}
	}
}
