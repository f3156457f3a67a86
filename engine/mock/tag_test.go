package mock

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParseTag(t *testing.T) {
	at := time.Date(2026, 1, 2, 11, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header string
		want   tag
		ok     bool
	}{
		{"3/fill_cart[2].add_cart/1 2026-01-02T11:00:00Z", tag{3, 1, "fill_cart[2].add_cart", at}, true},
		{"0/a b/0 2026-01-02T12:00:00+01:00", tag{0, 0, "a b", at}, true},
		{"3/x/1 2026-01-02T11:00:00.000Z", tag{3, 1, "x", at}, true},
		{"", tag{}, false},
		{"3/x/1", tag{}, false},
		{"3/x 2026-01-02T11:00:00Z", tag{}, false},
		{"3//1 2026-01-02T11:00:00Z", tag{}, false},
		{"-1/x/1 2026-01-02T11:00:00Z", tag{}, false},
		{"x/x/1 2026-01-02T11:00:00Z", tag{}, false},
		{"3/x/y 2026-01-02T11:00:00Z", tag{}, false},
		{"3/x/1/2 2026-01-02T11:00:00Z", tag{}, false},
		{"4294967296/x/1 2026-01-02T11:00:00Z", tag{}, false},
		{"3/x/1 2026-01-02 11:00:00", tag{}, false},
	} {
		got, err := parseTag(c.header)
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("%q: %+v %v, want %+v", c.header, got, err, c.want)
		}
	}
}

func FuzzTag(f *testing.F) {
	f.Add("3/fill_cart[2].add_cart/1 2026-01-02T11:00:00Z")
	f.Add("0/x/0 0000-01-01T00:00:00+23:59")
	f.Fuzz(func(t *testing.T, header string) {
		got, err := parseTag(header)
		if err != nil {
			if got != (tag{}) {
				t.Errorf("%+v with an error", got)
			}
			return
		}
		if got.cycle < 0 || got.attempt < 0 || got.path == "" || strings.Contains(got.path, "/") {
			t.Errorf("%q is %+v", header, got)
		}
		again := fmt.Sprintf("%d/%s/%d %s", got.cycle, got.path, got.attempt, got.at.Format(time.RFC3339Nano))
		if back, err := parseTag(again); got.at.Year() > 0 && (err != nil || back != got) {
			t.Errorf("%q came back as %+v, %v", again, back, err)
		}
	})
}
