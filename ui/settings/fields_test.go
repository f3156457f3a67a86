package settings

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// TestAddressOfParts splits addresses and joins them again.
func TestAddressOfParts(t *testing.T) {
	for _, address := range []string{
		"", good, "postgres://db.example.com/app", "postgres://app@[::1]:5432/app?sslmode=verify-full",
		"postgres://a%40b@h:1/x%20y?application_name=me&sslmode=require",
	} {
		p, ok := splitAddress(address)
		if got := joinAddress(p, address); !ok || got != address {
			t.Errorf("%s became %s", address, got)
		}
	}
	if _, ok := splitAddress("http://db.example.com"); ok {
		t.Error("a web page is an address of a database")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z0-9 @:/?#%ä_-]{0,8}`)
		p := parts{
			host: rapid.StringMatching(`[a-z0-9.-]{1,8}`).Draw(t, "host"), port: rapid.StringMatching(`[0-9]{0,4}`).Draw(t, "port"),
			name: word.Draw(t, "name"), user: word.Draw(t, "user"), mode: rapid.SampledFrom([]string{"", "require", "verify-full"}).Draw(t, "mode"),
		}
		address := joinAddress(p, "postgres://old@h/x?connect_timeout=3&sslmode=allow")
		if got, ok := splitAddress(address); !ok || got != p {
			t.Errorf("%+v became %s and then %+v", p, address, got)
		}
	})
}

// TestFieldsAndAddressFollowEachOther checks that editing the fields updates the address, and vice versa.
func TestFieldsAndAddressFollowEachOther(t *testing.T) {
	s := shown(t, Database, &fakeDesk{connection: Connection{URL: good, From: "saved"}})
	d := s.screen.database
	s.Until("the fields are filled", func() bool { return d.fields.host.Text == "db.example.com" && d.fields.user.Text == "app" })
	d.fields.host.SetText("other.example.com")
	d.fields.port.SetText("6432")
	d.fields.mode.SetSelected("verify-full")
	const want = "postgres://app@other.example.com:6432/app?sslmode=verify-full"
	if d.url.Text != want {
		t.Errorf("the address is %s", d.url.Text)
	}
	s.tap("Save")
	s.asks("save " + want + " ")
	d.url.SetText("postgres://me@third.example.com/x")
	if p := d.fields.parts(); p != (parts{"third.example.com", "", "x", "me", ""}) {
		t.Errorf("the fields are %+v", p)
	}
	d.fields.port.SetText("54x") // an invalid value stays in the field, with an error
	s.tap("Test")
	if d.fields.port.Text != "54x" || s.desk.has("test "+d.url.Text+" ") {
		t.Errorf("the port is %q, the address %s", d.fields.port.Text, d.url.Text)
	}
}

// TestCertificates imports the server's CA and removes it.
func TestCertificates(t *testing.T) {
	desk := &fakeDesk{connection: Connection{URL: good, From: "saved"}}
	s := shown(t, Database, desk)
	s.until("verified only with verify-ca")
	s.screen.database.authority.take("/tmp/ca.pem")
	s.asks("import /tmp/ca.pem")
	s.until("be signed by Acme CA")
	s.until("valid until 2030-01-01")
	s.tap("Remove")
	s.asks("remove CA")
	s.until("verified only with verify-ca")
	desk.set(func() {
		desk.err = &engine.FieldError{Field: "database-ca", Problem: "ca.pem has the certificate of Acme, which expired on 2020-01-01", Hint: "ask for the new one"}
	})
	s.screen.database.authority.take("/tmp/old.pem")
	s.until("expired on 2020-01-01")
	desk.set(func() { desk.err = errors.New("the disk is full") })
	s.screen.database.authority.take("/tmp/ca.pem")
	s.until("the disk is full")
}
