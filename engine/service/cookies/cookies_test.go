package cookies

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var now = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

func address(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestNormalize checks that a cookie gets its path, and that its expiry becomes whether it has expired.
func TestNormalize(t *testing.T) {
	at := address(t, "https://shop.example.com/api/login")
	for set, want := range map[string]string{
		"a=1":         "a=1; Path=/api",
		"a=1; Path=/": "a=1; Path=/",
		"a=1; Path=x": "a=1; Path=/api",
		`a="1 2"; path=/; Secure; HttpOnly; SameSite=Lax`: `a="1 2"; Path=/; Secure; HttpOnly`,
		"a=1; Max-Age=60":                                       "a=1; Path=/api",
		"a=1; Max-Age=0":                                        "a=1; Path=/api; Max-Age=0",
		"a=1; Max-Age=-5; Domain=example.com":                   "a=1; Path=/api; Domain=example.com; Max-Age=0",
		"a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT":             "a=; Path=/api; Max-Age=0",
		"a=1; Expires=Fri, 02 Jan 2026 08:00:01 GMT":            "a=1; Path=/api",
		"a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT": "a=1; Path=/api",
		"a=%7B%22b%22%3A1%7D; Path=/":                           "a=%7B%22b%22%3A1%7D; Path=/",
		"no cookie":                                             "",
		"a=" + strings.Repeat("x", 5000):                        "",
	} {
		if got := strings.Join(Normalize([]string{set}, at, now), "|"); got != want {
			t.Errorf("%.80s: got %q, want %q", set, got, want)
		}
	}
	if got := Normalize(slices.Repeat([]string{"a=1"}, 100), at, now); len(got) != maxSet {
		t.Errorf("%d cookies of one answer", len(got))
	}
}

// TestSent checks which cookies a request gets (RFC 6265, section 5.4).
func TestSent(t *testing.T) {
	set := []string{
		"host=1; Path=/", "wide=2; Path=/; Domain=example.com", "deep=3; Path=/api", "safe=4; Path=/; Secure", "public=5; Path=/; Domain=com",
		"foreign=6; Path=/; Domain=other.org", "gone=7; Path=/", "gone=; Path=/; Max-Age=0", "again=8; Path=/", "again=9; Path=/",
	}
	for at, want := range map[string]string{
		"https://shop.example.com/api/x": "deep=3; host=1; wide=2; safe=4; again=9",
		"https://shop.example.com/":      "host=1; wide=2; safe=4; again=9",
		"http://shop.example.com/apis":   "host=1; wide=2; again=9",
		"http://127.0.0.1:8000/":         "host=1; safe=4; again=9",
		"http://localhost:3000/api":      "deep=3; host=1; safe=4; again=9",
	} {
		if got := Join("", Sent(set, address(t, at))); got != want {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
	}
	if got := Join("host=0; x=1", Sent(set[:2], address(t, "https://shop.example.com/"))); got != "host=0; x=1; wide=2" {
		t.Errorf("joined with a header: %q", got)
	}
	sent := Sent([]string{"a=x%3D%3D; Path=/", "b=%0d%0aX-Evil: 1; Path=/", "c=100%; Path=/"}, address(t, "http://localhost/"))
	for name, want := range map[string]string{"a": "x==", "b": "%0d%0aX-Evil: 1", "c": "100%"} {
		if got, ok := Value(sent, name); got != want || !ok {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
	if _, ok := Value(sent, "d"); ok || fmt.Sprint(Names(sent)) != "[a b c]" {
		t.Errorf("names %v", Names(sent))
	}
}

func TestHidden(t *testing.T) {
	for line, want := range map[string]string{"sid=secret; Path=/; HttpOnly": "sid=…; Path=/; HttpOnly", "sid=secret": "sid=…", "": "=…"} {
		if got := Hidden(line); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// TestLogIsLikeAllAnswers checks that leaving out replaced cookies changes nothing, and that forks joined in file order are like steps
// in file order.
func TestLogIsLikeAllAnswers(t *testing.T) {
	at := address(t, "https://shop.example.com/api/x")
	lines := rapid.Custom(func(r *rapid.T) string {
		line := rapid.StringMatching(`[ab]=[0-9]{0,2}; Path=/(api)?`).Draw(r, "cookie")
		return line + rapid.SampledFrom([]string{"", "; Domain=example.com", "; Domain=shop.example.com", "; Max-Age=0"}).Draw(r, "rest")
	})
	cookiesOf := func(set []string) string {
		sent := strings.Split(Join("", Sent(set, at)), "; ")
		slices.Sort(sent)
		return strings.Join(sent, "; ")
	}
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.SliceOfN(lines, 0, 4), 1, 6).Draw(r, "steps")
		var one, forked Log
		var all []string
		one.Add("shop", steps[0])
		forked.Add("shop", steps[0])
		forked.Add("other", []string{"a=other; Path=/"})
		all = append(all, steps[0]...)
		var members []Log
		for _, set := range steps[1:] {
			one.Add("shop", set)
			all = append(all, set...)
			m := forked.Fork()
			m.Add("shop", set)
			members = append(members, m)
		}
		waits := forked.Fork()
		for i := range members {
			waits.Inherit(&members[i])
		}
		waits.Add("shop", []string{"a=last; Path=/"})
		for i := range members {
			forked.Join(&members[i])
		}
		want := cookiesOf(all)
		if got := cookiesOf(one.Of("shop")); got != want {
			r.Fatalf("the log sends %q, all answers %q", got, want)
		}
		if got := cookiesOf(forked.Of("shop")); got != want {
			r.Fatalf("joined forks send %q, want %q", got, want)
		}
		forked.Join(&waits)
		if got, want := cookiesOf(forked.Of("shop")), cookiesOf(append(all, "a=last; Path=/")); got != want {
			r.Fatalf("a step that waited for all sends %q, want %q", got, want)
		}
		if got := forked.Of("other"); len(got) != 1 {
			r.Fatalf("the other service has %q", got)
		}
	})
}

// TestLogIsBounded checks that the oldest cookies of a service go when there are too many.
func TestLogIsBounded(t *testing.T) {
	var l Log
	for i := range 1000 {
		l.Add("shop", []string{fmt.Sprintf("c%d=%d; Path=/", i, i)})
	}
	if got := l.Of("shop"); len(got) != maxKept || got[0] != "c800=800; Path=/" {
		t.Errorf("%d cookies from %q on", len(got), got[0])
	}
}

// FuzzNormalize checks that what was normalized stays as it is, and can be sent.
func FuzzNormalize(f *testing.F) {
	for _, text := range []string{"a=1", `a="b c"; Path=/; Domain=.example.com; Max-Age=3`, "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "=", ";", "a=\x7f; Path=/ü"} {
		f.Add(text)
	}
	at := address(f, "https://shop.example.com/a/b")
	f.Fuzz(func(t *testing.T, line string) {
		once := Normalize([]string{line}, at, now)
		if again := Normalize(once, at, now); !slices.Equal(once, again) {
			t.Errorf("%q becomes %q, and then %q", line, once, again)
		}
		if header := Join("", Sent(once, at)); strings.ContainsAny(header, "\r\n\x00") {
			t.Errorf("%q is sent as %q", line, header)
		}
		if len(once) == 1 && len(Values(once)) == 1 && len(Values(once)[0]) > 3 && strings.Contains(Hidden(once[0]), "="+Values(once)[0]+";") {
			t.Errorf("%q is shown as %q", once, Hidden(once[0]))
		}
	})
}
