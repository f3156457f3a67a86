package service

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTargetsThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"http://evil.example/", "//evil.example/x", "https:x", "javascript:alert(1)", "//user@evil/", "/a/../b", "/..", "..", "/a/./b",
		"/a/%2e%2e/b", "/a/%2E./b", "/a/..%2fb", "/a/..%5Cb", `/a/..\b`, "/a/..;/b", "/a/..;x=1/b", "/a/.%3b", "/a#b", "/a\nb", "/a\x00", "/%zz", "/x?q=%zz 1",
	} {
		if target, err := ParseTarget(text); err == nil {
			t.Errorf("%q was taken as %+v", text, target)
		}
	}
}

func TestTargetsThatAreTaken(t *testing.T) {
	for text, want := range map[string]Target{
		"/api/products":       {"/api/products", ""},
		"api/products?x=1":    {"/api/products", "x=1"},
		"/a...b/.well-known/": {"/a...b/.well-known/", ""},
		"/a:b@c":              {"/a:b@c", ""},
		"/x?redirect=http%3A": {"/x", "redirect=http%3A"},
		"/x?a=//../..":        {"/x", "a=//../.."},
	} {
		if got, err := ParseTarget(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestTargetsStayAtHome checks that no text leaves the service's address.
func TestTargetsStayAtHome(t *testing.T) {
	h, err := NewHTTP("shop", "http://shop.example:81/base", Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	bits := []string{"/", "..", ".", "\\", "%2e", "%2F", "?", "#", "@", ":", "http:", "evil.example", "a", "é", " ", "\n", "&", "=", "%"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(bits)).Draw(t, "bits"), "")
		target, err := ParseTarget(text)
		if err != nil {
			return
		}
		line := h.address(target).String()
		u, err := url.Parse(line)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, line, err)
		}
		if u.Host != "shop.example:81" || u.Scheme != "http" || u.User != nil || u.Fragment != "" || !strings.HasPrefix(u.EscapedPath(), "/base/") {
			t.Fatalf("%q becomes %q", text, line)
		}
		if strings.ContainsAny(line, " \n") {
			t.Fatalf("%q breaks the request line: %q", text, line)
		}
		for segment := range strings.SplitSeq(u.Path, "/") {
			if segment == ".." || segment == "." {
				t.Fatalf("%q climbs: %q", text, line)
			}
		}
	})
}
