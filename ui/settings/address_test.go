package settings

import (
	"net/url"
	"strings"
	"testing"
)

func TestTakePassword(t *testing.T) {
	for _, c := range []struct{ text, rest, password string }{
		{"postgres://app:secret@db:5432/app?sslmode=require", "postgres://app@db:5432/app?sslmode=require", "secret"},
		{"postgres://app:p%40ss%2Fword@db/app", "postgres://app@db/app", "p@ss/word"},
		{"postgres://app:p@ss@db/app", "postgres://app@db/app", "p@ss"},
		{"postgres://:secret@db/app", "postgres://@db/app", "secret"},
		{"postgres://app@db/app?password=secret&sslmode=disable", "postgres://app@db/app?sslmode=disable", "secret"},
		{"postgres://app:one@db/app?password=two", "postgres://app@db/app", "one"},
		{" postgres://app:@db/app ", "postgres://app@db/app", ""},
		{"postgres://app@db/app", "postgres://app@db/app", ""},
		{"postgres://app:se%zzcret@db/app", "postgres://app:se%zzcret@db/app", ""}, // left to checkAddress
		{"", "", ""},
	} {
		if rest, password := takePassword(c.text); rest != c.rest || password != c.password {
			t.Errorf("%q: %q and %q, want %q and %q", c.text, rest, password, c.rest, c.password)
		}
	}
}

func TestCheckAddress(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://app@db:5432/app":         "",
		"postgresql://db/app?sslmode=prefer": "",
		"postgres:///app?host=/run/pg":       "",
		"":                                   "missing",
		"db:5432":                            "start with postgres://",
		"mysql://app@db/app":                 "start with postgres://",
		"postgres:///app":                    "no host",
		"postgres://app:secret@db/app":       "own field",
		"postgres://db/app?password=secret":  "own field",
		"postgres://app:se#cret@db/app":      "own field",
		"postgres://app:1#cret@db/app":       "own field",
		"postgres://app:1/secret@db/app":     "own field",
		"postgres://app:1?secret@db/app":     "own field",
	} {
		err := checkAddress(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		case err != nil && strings.Contains(err.Error(), "cret"):
			t.Errorf("%q: the error tells the password: %v", text, err)
		}
	}
}

// FuzzTakePassword checks that no accepted address contains a password.
func FuzzTakePassword(f *testing.F) {
	for _, text := range []string{"postgres://app:secret@db/app", "postgres://db/app?password=x&password=y", "postgres://a:1?b@c", "postgres://a:b%20@h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, _ := takePassword(text)
		if checkAddress(rest) != nil {
			return
		}
		u, err := url.Parse(strings.TrimSpace(rest))
		if err != nil {
			t.Fatalf("%q was accepted: %v", rest, err)
		}
		if _, has := u.User.Password(); has || u.Query().Has("password") {
			t.Errorf("%q was accepted", rest)
		}
		if again, password := takePassword(rest); password != "" || again != rest {
			t.Errorf("%q holds another password %q", rest, password)
		}
	})
}
