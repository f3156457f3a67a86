package exchange_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/importer/exchange"
)

// show writes the exchanges of a recording, one a line.
func show(r *exchange.Recording) string {
	var lines []string
	for _, e := range r.Exchanges {
		line := e.Method + " " + e.URL
		for _, h := range e.Request.Headers {
			line += fmt.Sprintf(" [%s: %s]", h.Name, h.Value)
		}
		if e.Request.Body != "" {
			line += " " + e.Request.Type + " " + e.Request.Body
		}
		for _, p := range e.Request.Parts {
			line += fmt.Sprintf(" (%s=%s%s%s)", p.Name, p.Value, map[bool]string{true: "@" + p.File}[p.File != ""], p.Type)
		}
		if e.Follow {
			line += " follow"
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, r.Notes...), "\n")
}

var curlCases = []struct{ name, text, want string }{
	{"Chrome, bash", `curl 'https://shop.example/api/items?a=1' \
  -H 'accept: */*' \
  -b 'sid=s1; theme=dark' \
  -H 'content-type: application/json' \
  --data-raw $'{"text":"it\'s \u00e4"}' \
  --compressed`, `POST https://shop.example/api/items?a=1 [accept: */*] [Cookie: sid=s1; theme=dark] [content-type: application/json] application/json {"text":"it's ä"}`},
	{
		"Chrome, cmd", "curl ^\"https://shop.example/api/items?a=1^&b=2^\" ^\r\n  -H ^\"accept: */*^\" ^\r\n  -H ^\"content-type: application/json^\" ^\r\n  --data-raw ^\"^{^\\^\"id^\\^\":7,^\\^\"t^\\^\":^\\^\"100^%^\\^\"^}^\" &\r\ncurl ^\"https://shop.example/b^\"",
		"POST https://shop.example/api/items?a=1&b=2 [accept: */*] [content-type: application/json] application/json {\"id\":7,\"t\":\"100%\"}\nGET https://shop.example/b",
	},
	{"cmd, older", "curl \"https://shop.example/a\" ^\n  -H \"X-A: 1\" --data-raw \"a=^&b\"", "POST https://shop.example/a [X-A: 1] application/x-www-form-urlencoded a=^&b"},
	{"Firefox", `curl 'https://shop.example/' --compressed -X PUT -H 'User-Agent: Mozilla/5.0' --data-binary 'x y'`, "PUT https://shop.example/ [User-Agent: Mozilla/5.0] application/x-www-form-urlencoded x y"},
	{"several", "curl https://a.example/1; curl -I https://a.example/2 | jq .\n$ curl -sSL https://a.example/3 > out", "GET https://a.example/1\nHEAD https://a.example/2\nGET https://a.example/3 follow\nThe command jq was not imported: only curl is."},
	{"data", `curl a.example -d a=1 -d 'b=2' --data-urlencode 'c=x y&z'`, "POST http://a.example application/x-www-form-urlencoded a=1&b=2&c=x+y%26z"},
	{"get", `curl -G a.example/s?q=1 -d n=2 --data-urlencode "p=ä"`, "GET http://a.example/s?q=1&n=2&p=%C3%A4"},
	{"json", `curl --json '{"a":1}' http://a.example`, `POST http://a.example [Content-Type: application/json] [Accept: application/json] application/json {"a":1}`},
	{"form", `curl -F name=Ann -F 'doc=@/tmp/a.pdf;type=application/pdf' http://a.example`, "POST http://a.example (name=Ann) (doc=@a.pdfapplication/pdf)"},
	{"user", `curl -u ann:pw -XDELETE http://a.example`, "DELETE http://a.example [Authorization: Basic YW5uOnB3]"},
	{"variables", `curl -H "Authorization: Bearer $TOKEN" "http://a.example/${ID}/$(date)"`, "GET http://a.example/{{ID}}/{{command}} [Authorization: Bearer {{TOKEN}}]\nA shell command inside of a curl command was not run; its place is marked."},
	{"unknown", `curl --frobnicate -k http://a.example`, "GET http://a.example\nThe curl option --frobnicate was not imported: it is unknown here.\n--insecure was not imported: certificates are always verified. Name the CA of your backend in tls of its service."},
	{"file", `curl -d @body.json http://a.example`, "POST http://a.example\nThe body is in the file body.json, which was not read: put its text into the step."},
	{"next", `curl http://a.example/1 -d x=1 --next http://a.example/2 -H 'A: b'`, "POST http://a.example/1 application/x-www-form-urlencoded x=1\nGET http://a.example/2 [A: b]"},
}

func TestReadCURL(t *testing.T) {
	for _, c := range curlCases {
		t.Run(c.name, func(t *testing.T) {
			r, err := exchange.ReadCURL(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(r); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestDamagedCURL(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no curl command",
		"curl 'https://a.example":   "incomplete or misquoted",
		"wget http://a.example":     "no curl command",
		"curl -H 'A: b'":            "no curl command",
		"fetch('https://a.example'": "incomplete or misquoted",
	} {
		if _, err := exchange.ReadCURL(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadCURL(f *testing.F) {
	for _, c := range curlCases {
		f.Add(c.text)
	}
	f.Add("curl -")
	f.Add("curl ^\"\\\\^\"")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := exchange.ReadCURL(text)
		if err == nil && (len(r.Exchanges) == 0 || r.Source == "") {
			t.Error("a recording without requests")
		}
	})
}
