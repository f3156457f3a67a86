package settings

import (
	"errors"
	"testing"
	"time"
)

// TestAllowed checks the list of allowed addresses of each scenario file, and removes one.
func TestAllowed(t *testing.T) {
	day := time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local)
	desk := &fakeDesk{allowed: []Allowed{
		{"/studies/mystery.yaml", []AllowedAddress{{"127.0.0.1:9000", []string{"AWS_KEY", "OPENAI_API_KEY"}, day}, {"db.example.com:5432/shop", nil, day}}},
		{"/studies/other.yaml", []AllowedAddress{{"127.0.0.1:1", nil, day}}},
	}}
	s := shown(t, Privacy, desk)
	s.until("127.0.0.1:9000 with AWS_KEY, OPENAI_API_KEY, since 2026-11-25")
	if !s.shows("mystery.yaml") || !s.shows("in /studies") || !s.shows("db.example.com:5432/shop, since 2026-11-25") || !s.shows("other.yaml") {
		t.Error("not everything is listed")
	}
	desk.set(func() { desk.err = errors.New("the disk is full") })
	s.screen.allowed.forgets[0].OnTapped()
	s.until("The permissions of /studies/mystery.yaml are not changed. The disk is full")
	desk.set(func() { desk.err = nil })
	s.screen.allowed.forgets[0].OnTapped()
	s.asks("forget /studies/mystery.yaml")
	s.until("Forgotten: Throng asks again before the next run of /studies/mystery.yaml.")
	if s.shows("db.example.com:5432/shop") || !s.shows("other.yaml") {
		t.Error("another address is removed")
	}
	s.screen.allowed.forgets[0].OnTapped()
	s.until(nothingAllowed)
}
