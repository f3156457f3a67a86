// Package cookies keeps the cookies of sessions (RFC 6265). A session's cookies are a function of the answers that it has received:
// time does not pass for them, so that a resumed session sends the same ones.
package cookies

import (
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/publicsuffix"
)

const (
	// maxSet is how many Set-Cookie headers of one answer count, and maxKept how many cookies of a service are kept. Browsers have
	// similar limits.
	maxSet  = 50
	maxKept = 200
	// maxCookie is the maximum length of a cookie in bytes (RFC 6265, section 6.1).
	maxCookie = 4096
)

// Header is the header of an answer that sets cookies.
const Header = "Set-Cookie"

// Normalize rewrites the cookies that an answer to a request at u sets: each has its path, and instead of an expiry, one that has
// expired is marked as deleted. now is the time at the service. Invalid cookies are left out.
func Normalize(set []string, u *url.URL, now time.Time) (all []string) {
	for _, line := range set[:min(len(set), maxSet)] {
		c, err := http.ParseSetCookie(line)
		if err != nil || len(c.Name)+len(c.Value) > maxCookie {
			continue
		}
		over := c.MaxAge < 0 || c.MaxAge == 0 && !c.Expires.IsZero() && !c.Expires.After(now)
		if !strings.HasPrefix(c.Path, "/") {
			c.Path = folder(u.Path)
		}
		all = append(all, text(c, over))
	}
	return all
}

// folder returns the default path of a cookie (RFC 6265, section 5.1.4).
func folder(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 && path[0] == '/' {
		return path[:i]
	}
	return "/"
}

// text writes a cookie. Its parts are valid, because they have been parsed.
func text(c *http.Cookie, over bool) string {
	value := c.Value
	if c.Quoted {
		value = `"` + value + `"`
	}
	line := c.Name + "=" + value + "; Path=" + c.Path
	if c.Domain != "" {
		line += "; Domain=" + c.Domain
	}
	if over {
		line += "; Max-Age=0"
	}
	if c.Secure {
		line += "; Secure"
	}
	if c.HttpOnly {
		line += "; HttpOnly"
	}
	return line
}

// Sent returns the cookies of a request to u, given the normalized cookies that were set, in order.
func Sent(set []string, u *url.URL) []*http.Cookie {
	if len(set) == 0 {
		return nil
	}
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		panic(err) // the options are valid
	}
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if isLocal(u.Hostname()) {
		at.Scheme = "https" // browsers send secure cookies to this machine in any case
	}
	for _, line := range set {
		if c, err := http.ParseSetCookie(line); err == nil {
			jar.SetCookies(at, []*http.Cookie{c})
		}
	}
	return jar.Cookies(at)
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// Join adds cookies to a Cookie header. Those that the header has already stay as they are.
func Join(header string, sent []*http.Cookie) string {
	own, _ := http.ParseCookie(header)
	for _, c := range sent {
		if slices.ContainsFunc(own, func(o *http.Cookie) bool { return o.Name == c.Name }) {
			continue
		}
		value := c.Value
		if c.Quoted {
			value = `"` + value + `"`
		}
		if header != "" {
			header += "; "
		}
		header += c.Name + "=" + value
	}
	return header
}

// Value returns the value of a cookie as the scripts of a page read it: percent-decoded. ok is false if there is none.
func Value(sent []*http.Cookie, name string) (value string, ok bool) {
	for _, c := range sent {
		if c.Name != name {
			continue
		}
		if plain, err := url.PathUnescape(c.Value); err == nil && !strings.ContainsFunc(plain, unicode.IsControl) {
			return plain, true
		}
		return c.Value, true
	}
	return "", false
}

// Names returns the names of cookies, each once.
func Names(sent []*http.Cookie) (names []string) {
	for _, c := range sent {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Values returns the values of the cookies that were set.
func Values(set []string) (values []string) {
	for _, line := range set {
		if c, err := http.ParseSetCookie(line); err == nil && c.Value != "" {
			values = append(values, c.Value)
		}
	}
	return values
}

// Hidden returns a header that sets a cookie, without the value.
func Hidden(line string) string {
	pair, rest, more := strings.Cut(line, ";")
	name, _, _ := strings.Cut(pair, "=")
	if line = name + "=…"; more {
		line += ";" + rest
	}
	return line
}
