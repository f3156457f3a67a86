package expr

import (
	"regexp"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service/redact"
)

// cookieIn finds the cookies inside a text: ${cookie("NAME")}.
var cookieIn = regexp.MustCompile(`\$?\$\{\s*cookie\(\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)\s*\}`)

// cookieCall finds calls of cookie.
var cookieCall = regexp.MustCompile(`\bcookie\s*\(`)

// cookieForm matches the names of cookies (RFC 6265, section 4.1.1).
var cookieForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// withCookies returns a text of a scalar with marks in place of its cookies, and the same in its plain form; see marked. Cookies in
// the wrong place are reported.
func (r *Compiler) withCookies(n *doc.Node, text, plain string) (marked, without string) {
	if !cookieCall.MatchString(plain) || r.definesCookie() {
		return text, plain
	}
	for _, at := range cookieCall.FindAllStringIndex(plain, -1) {
		if !inside(at[0], cookieIn.FindAllStringIndex(plain, -1)) && inExpression(plain[:at[0]]) {
			n.ErrorfAt(at[0], "a value of its own or a part of a text: `X-CSRF-Token: ${cookie(\"csrftoken\")}`", "expressions cannot use cookies: they are secrets, and known only when a request is sent")
			fixed := cookieCall.ReplaceAllString(plain, "str(") // without a second error
			return fixed, fixed
		}
	}
	if !r.Cookies {
		for _, at := range cookieIn.FindAllStringIndex(plain, -1) {
			if strings.HasPrefix(plain[at[0]:], "$$") {
				continue
			}
			n.ErrorfAt(at[0], "use it in the path, query, headers, json, form, multipart or body of an http step whose service says `cookies: on`",
				"a cookie cannot be used here")
			break
		}
	}
	mark := func(one string, as func(name string) string) string {
		if strings.HasPrefix(one, "$$") {
			return one
		}
		m := cookieIn.FindStringSubmatch(one)
		name := m[1] + m[2]
		if len(name) > 200 || !cookieForm.MatchString(name) {
			n.Errorf("the name of a cookie, such as csrftoken", "%q cannot be the name of a cookie", name)
		}
		return as(name)
	}
	marked = cookieIn.ReplaceAllStringFunc(text, func(one string) string { return mark(one, redact.CookieMark) })
	without = cookieIn.ReplaceAllStringFunc(plain, func(one string) string {
		return mark(one, func(string) string { return strings.Repeat("x", len(one)) })
	})
	return marked, without
}

// definesCookie reports whether the file has a function of that name.
func (r *Compiler) definesCookie() bool {
	_, err := r.File.Env.Expr("cookie", r.Names)
	return err == nil
}

func inside(at int, spans [][]int) bool {
	for _, s := range spans {
		if s[0] <= at && at < s[1] {
			return true
		}
	}
	return false
}

// inExpression reports whether a text ends within ${ }, as far as braces tell.
func inExpression(before string) bool {
	open := strings.LastIndex(before, "${")
	return open >= 0 && !strings.HasSuffix(before[:open], "$") && !strings.Contains(before[open:], "}")
}
