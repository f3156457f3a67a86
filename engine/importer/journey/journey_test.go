package journey_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/importer/journey"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// recorded builds a recording, one exchange every 50 ms, which is faster than a person.
type recorded struct {
	exchange.Recording
	now time.Time
}

func newRecorded() *recorded { return &recorded{now: noon} }

// pause lets time pass.
func (r *recorded) pause(d time.Duration) *recorded {
	r.now = r.now.Add(d)
	return r
}

// call adds an exchange. Headers are lines of the request, or of the answer if they begin with <.
func (r *recorded) call(method, url, body string, status int, answer string, headers ...string) *exchange.Exchange {
	e := exchange.Exchange{Start: r.now, Duration: 20 * time.Millisecond, Method: method, URL: url, Status: status}
	r.now = r.now.Add(50 * time.Millisecond)
	e.Request.Body, e.Response.Body = body, answer
	if body != "" {
		e.Request.Type = "application/json"
		if body[0] != '{' && body[0] != '[' {
			e.Request.Type = "application/x-www-form-urlencoded"
		}
	}
	e.Response.Type = "application/json"
	if strings.HasPrefix(answer, "<") {
		e.Response.Type = "text/html"
	}
	for _, h := range headers {
		to := &e.Request
		if strings.HasPrefix(h, "<") {
			to, h = &e.Response, h[1:]
		}
		name, value, _ := strings.Cut(h, ": ")
		to.Headers = append(to.Headers, exchange.Field{Name: name, Value: value})
	}
	r.Exchanges = append(r.Exchanges, e)
	return &r.Exchanges[len(r.Exchanges)-1]
}

func draft(t *testing.T, recordings ...*recorded) *importer.Draft {
	t.Helper()
	var all []*exchange.Recording
	for _, r := range recordings {
		all = append(all, &r.Recording)
	}
	d, err := journey.Draft(all, journey.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// text writes a value as a scenario would, roughly.
func text(v importer.Value) string {
	switch {
	case v.From != nil:
		path := v.From.Step + v.From.Path
		if v.From.Wrap != "" {
			path = fmt.Sprintf(v.From.Wrap, path)
		}
		return "${" + path + "}"
	case v.Expr != "":
		return "${" + v.Expr + "}"
	case v.Secret != "":
		return "secret:" + v.Secret
	case v.Open != nil:
		return fmt.Sprintf("open(%v, %s)", v.Open.Example, strings.Join(v.Open.Candidates, ", "))
	case v.Parts != nil:
		all := ""
		for _, p := range v.Parts {
			all += text(p)
		}
		return all
	case v.Items != nil:
		var all []string
		for _, i := range *v.Items {
			all = append(all, text(i))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case v.Fields != nil:
		var all []string
		for _, f := range *v.Fields {
			all = append(all, f.Name+": "+text(f.Value))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	if v.Literal == nil {
		return "null"
	}
	return fmt.Sprint(v.Literal)
}

func pairs(list []importer.Pair) string {
	var all []string
	for _, p := range list {
		all = append(all, p.Name+"="+text(p.Value))
	}
	return strings.Join(all, "&")
}

// line writes a step in one line.
func line(s *importer.Step) string {
	all := s.Name + ": " + s.Method + " " + text(s.Path)
	if len(s.Query) > 0 {
		all += "?" + pairs(s.Query)
	}
	if len(s.Headers) > 0 {
		all += " [" + pairs(s.Headers) + "]"
	}
	if s.Body != nil {
		switch s.Body.Kind {
		case importer.Form, importer.Multipart:
			all += " " + pairs(s.Body.Pairs)
		default:
			all += " " + text(s.Body.Value)
		}
	}
	if s.Expect != nil {
		all += fmt.Sprintf(" expect %v", s.Expect)
	}
	for name, set := range map[string]bool{" follow": s.Follow, " public": s.Public} {
		if set {
			all += name
		}
	}
	return all
}

func lines(d *importer.Draft) string {
	var all []string
	for i := range d.Steps {
		all = append(all, line(&d.Steps[i]))
	}
	return strings.Join(all, "\n")
}

func same(t *testing.T, d *importer.Draft, want ...string) {
	t.Helper()
	if got := lines(d); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// leaks returns where a text occurs in a draft, except in the values of its secrets.
func leaks(v reflect.Value, at, secret string) (found []string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return leaks(v.Elem(), at, secret)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if strings.Contains(string(v.Bytes()), secret) {
				return []string{at}
			}
			return nil
		}
		for i := range v.Len() {
			found = append(found, leaks(v.Index(i), fmt.Sprintf("%s[%d]", at, i), secret)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[importer.Secret]() && v.Type().Field(i).Name == "Value" {
				continue
			}
			found = append(found, leaks(v.Field(i), at+"."+v.Type().Field(i).Name, secret)...)
		}
	case reflect.String:
		if strings.Contains(v.String(), secret) {
			return []string{at + " = " + v.String()}
		}
	default:
		if strings.Contains(fmt.Sprint(v), secret) {
			return []string{at}
		}
	}
	return found
}

const api = "https://api.shop.example"

func TestValuesComeFromEarlierAnswers(t *testing.T) {
	r := newRecorded()
	r.call("GET", api+"/products?search=lamp&limit=20", "", 200, `{"products": [{"id": 7, "name": "a"}, {"id": 12, "name": "b"}], "limit": 20}`)
	r.call("GET", api+"/products/12", "", 200, `{"id": 12, "name": "b", "variants": [{"sku": "LB-100"}]}`)
	r.call("POST", api+"/baskets", `{}`, 201, `{"id": "bsk_8f2a", "status": "open", "etag-x": "v9918"}`)
	r.call("POST", api+"/baskets/bsk_8f2a/items", `{"product_id": 12, "sku": "LB-100", "quantity": 2, "gift": true}`, 200, `{"items": [{"id": "itm_5501", "quantity": 2}]}`)
	r.call("PATCH", api+"/baskets/bsk_8f2a/items/itm_5501", `{"quantity": 3, "version": "v9918"}`, 200, `{}`)
	r.call("POST", api+"/orders", `{"basket": "bsk_8f2a", "meta": "{\"ref\":\"bsk_8f2a\"}"}`, 201, `{"id": 40012}`, "<Location: /orders/40012")
	r.call("GET", api+"/orders/40012?limit=20", "", 200, `{}`)
	d := draft(t, r)
	same(
		t, d,
		"get_products: GET /products?search=lamp&limit=20",
		"get_product: GET /products/${pick(GET /products.products).id}",
		"create_basket: POST /baskets {}",
		"create_basket_item: POST /baskets/${POST /baskets.id}/items {product_id: ${GET /products/{id}.id}, sku: ${GET /products/{id}.variants[0].sku}, quantity: 2, gift: true}",
		"update_basket_item: PATCH /baskets/${POST /baskets.id}/items/${POST /baskets/{id}/items.items[0].id} {quantity: 3, version: ${POST /baskets[\"etag-x\"]}}",
		`create_order: POST /orders {basket: ${POST /baskets.id}, meta: {"ref":"${POST /baskets.id}"}}`,
		"get_order: GET /orders/${POST /orders.id}?limit=20",
	)
	if note := strings.Join(d.Steps[1].Notes, " "); note != "the recording chose item 2 of 2 of get_products; each agent draws one" {
		t.Errorf("note of the choice: %q", note)
	}
	if d.Services[0].Name != "api" || d.Services[0].URL != api {
		t.Errorf("service: %+v", d.Services[0])
	}
}

func TestBearerTokenOfALogin(t *testing.T) {
	r := newRecorded()
	auth := "Authorization: Bearer tok-4f6a9b21c0d8e7"
	r.call("GET", api+"/products", "", 200, `[{"id": "p-100"}]`)
	r.call("POST", api+"/auth/login", `{"email": "ann@shop.example", "password": "correct horse"}`, 200, `{"data": {"access_token": "tok-4f6a9b21c0d8e7", "refresh_token": "ref-99181aa0bb"}}`)
	r.pause(5*time.Second).call("GET", api+"/me", "", 200, `{"email": "ann@shop.example"}`, auth)
	r.call("POST", api+"/auth/refresh", `{"refresh_token": "ref-99181aa0bb"}`, 200, `{"access_token": "tok-00aa17cc55"}`)
	r.call("PUT", api+"/me", `{"email": "ann@shop.example"}`, 200, `{}`, "Authorization: Bearer tok-00aa17cc55")
	d := draft(t, r)
	same(t, d, "get_products: GET /products public", "get_me: GET /me", "update_me: PUT /me {email: ${agent.email}}")
	a := d.Services[0].Auth
	if a.Kind != importer.Login || a.Token != "body.data.access_token" || line(a.Request) != "login: POST /auth/login {email: ${agent.email}, password: secret:API_PASSWORD}" {
		t.Errorf("auth: %+v, %s", a, line(a.Request))
	}
	if len(d.Data) != 1 || d.Data[0].Name != "email" || !d.Data[0].Attribute || len(d.Secrets) != 1 || d.Secrets[0].Value != "correct horse" {
		t.Errorf("data %+v, secrets %+v", d.Data, d.Secrets)
	}
	for _, secret := range []string{"correct horse", "tok-", "ref-99181aa0bb"} {
		if found := leaks(reflect.ValueOf(d), "", secret); found != nil {
			t.Errorf("%s is in %v", secret, found)
		}
	}
	if d.Steps[1].Think.Median != 5*time.Second {
		t.Errorf("think time: %+v", d.Steps[1].Think)
	}
}

func TestLoginWithTokenInAForm(t *testing.T) {
	const site = "http://127.0.0.1:8000"
	r := newRecorded()
	r.call("GET", site+"/login", "", 200, `<html><form><input type="hidden" name="csrf_token" value="Zx81kQ0pLm77"></form></html>`, "<Set-Cookie: session=sess-8812ab; HttpOnly")
	r.pause(4*time.Second).call("POST", site+"/login", "csrf_token=Zx81kQ0pLm77&username=ann&password=pw-77ss", 302, "", "Cookie: session=sess-8812ab", "<Location: /account", "Origin: "+site)
	r.call("GET", site+"/account", "", 200, `<html><head><meta name="csrf-token" content="mt4481aabb"></head><script>var cfg = {orderToken: "ot-5512abc"}</script></html>`, "Cookie: session=sess-8812ab")
	r.pause(9*time.Second).call("POST", site+"/orders", `{"token": "ot-5512abc"}`, 201, `{}`, "Cookie: session=sess-8812ab", "X-CSRF-Token: mt4481aabb", "X-XSRF-TOKEN: sess-8812ab")
	d := draft(t, r)
	same(
		t, d,
		"get_login: GET /login",
		`login: POST /login [Origin=`+site+`] csrf_token=${form_field(GET /login.body, "csrf_token")}&username=${agent.user}&password=secret:BACKEND_PASSWORD follow`,
		`create_order: POST /orders [X-Csrf-Token=${extract(POST /login.body, "<meta[^>]*name=[\"']csrf-token[\"'][^>]*content=[\"']([^\"']+)")}&X-Xsrf-Token=${cookie("session")}] {token: ${extract(POST /login.body, "orderToken: \"([^\"'<>&\\s,;]+)")}}`,
	)
	if !d.Services[0].Cookies || d.Services[0].Auth.Kind != importer.NoAuth {
		t.Errorf("service: %+v", d.Services[0])
	}
}

func TestConstantCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		query   string
		want    importer.Auth
		secret  string
	}{
		"bearer":  {headers: []string{"Authorization: Bearer abcd1234efgh5678"}, want: importer.Auth{Kind: importer.Bearer, Secret: "API_TOKEN"}, secret: "abcd1234efgh5678"},
		"basic":   {headers: []string{"Authorization: Basic c2hvcDpwNHNzLXcwcmQ="}, want: importer.Auth{Kind: importer.Basic, User: "shop", Secret: "API_PASSWORD"}, secret: "p4ss-w0rd"},
		"API key": {headers: []string{"X-Api-Key: k-55128812"}, want: importer.Auth{Kind: importer.Header, Name: "X-Api-Key", Secret: "API_X_API_KEY"}, secret: "k-55128812"},
		"query":   {query: "?api_key=k-55128812", want: importer.Auth{Kind: importer.Query, Name: "api_key", Secret: "API_API_KEY"}, secret: "k-55128812"},
		"cookie":  {headers: []string{"Cookie: _ga=GA1.2.3; sid=s3cr3t-0f81"}, want: importer.Auth{Kind: importer.Cookie, Name: "sid", Secret: "API_SID"}, secret: "s3cr3t-0f81"},
		"token":   {headers: []string{"Authorization: Token abcd1234efgh5678"}, want: importer.Auth{Kind: importer.Header, Name: "Authorization", Secret: "API_AUTHORIZATION"}, secret: "abcd1234efgh5678"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorded()
			r.call("GET", api+"/a"+c.query, "", 200, `{}`, c.headers...)
			r.call("POST", api+"/b"+c.query, `{"n": 1}`, 200, `{}`, c.headers...)
			d := draft(t, r)
			got := d.Services[0].Auth
			got.Note = ""
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if found := leaks(reflect.ValueOf(d), "", c.secret); found != nil {
				t.Errorf("the secret is in %v", found)
			}
			if !slices.ContainsFunc(d.Secrets, func(s importer.Secret) bool { return strings.HasSuffix(s.Value, c.secret) }) {
				t.Errorf("secrets: %+v", d.Secrets)
			}
			same(t, d, "get_a: GET /a", "create_b: POST /b {n: 1}")
		})
	}
}

func TestTwoRecordings(t *testing.T) {
	one := func(search, product, basket, coupon, when, mail string) *recorded {
		r := newRecorded()
		r.call("GET", api+"/products?search="+search, "", 200, `{"products": [{"id": "`+product+`"}, {"id": "px-7"}], "featured": "px-fix9"}`)
		r.call("POST", api+"/baskets", `{"product_id": "`+product+`", "gift": "px-fix9", "channel": "web-2"}`, 201, `{"id": "`+basket+`"}`)
		r.call("POST", api+"/baskets/"+basket+"/pay", `{"coupon": "`+coupon+`", "request_id": "`+when+`", "mail": "`+mail+`"}`, 200, `{}`)
		return r
	}
	d := draft(t,
		one("lamp", "px-100", "bk-1", "SAVE10", "0b0e7f52-93a2-4a5c-8d35-3f0a9f6f1d11", "ann1@a.example"),
		one("chair", "px-200", "bk-2", "SAVE20", "5c1f52aa-1111-4a5c-8d35-3f0a9f6f1d22", "ann2@a.example"))
	same(
		t, d,
		`get_products: GET /products?search=open(lamp, pick(["lamp", "chair"]), a parameter)`,
		`create_basket: POST /baskets {product_id: ${pick(GET /products.products).id}, gift: px-fix9, channel: web-2}`,
		`pay_basket: POST /baskets/${POST /baskets.id}/pay {coupon: open(SAVE10, pick(["SAVE10", "SAVE20"]), a parameter), request_id: ${uuid()}, mail: ${"user-" + session.uuid + "@example.com"}}`,
	)
}

func TestFilter(t *testing.T) {
	r := newRecorded()
	r.call("GET", "https://www.shop.example/", "", 200, "<html></html>").Type = "document"
	r.call("GET", "https://www.shop.example/app.js", "", 200, "").Type = "script"
	r.call("GET", "https://cdn.other.example/font.woff2", "", 200, "")
	r.call("GET", "https://www.google-analytics.com/g/collect?cid=1", "", 204, "")
	r.call("OPTIONS", api+"/items", "", 204, "")
	r.call("GET", api+"/items", "", 200, "[]").Type = "fetch"
	r.call("GET", api+"/items", "", 304, "").Type = "fetch"
	r.call("GET", api+"/missing", "", 404, "{}").Type = "fetch"
	r.call("GET", "https://www.shop.example/favicon.ico", "", 200, "")
	r.call("GET", "wss://api.shop.example/live", "", 101, "")
	r.call("POST", "https://www.shop.example/telemetry", `{"a": 1}`, 204, "")
	d := draft(t, r)
	same(t, d, "get_home: GET /", "get_items: GET /items", "get_missing: GET /missing expect [404]")
	got := make(map[string]string)
	for _, x := range d.Dropped {
		got[x.What] = x.Reason
	}
	want := map[string]string{
		"https://www.shop.example/app.js": "script", "https://cdn.other.example/font.woff2": "another host", "https://www.google-analytics.com/g/collect": "telemetry",
		api + "/items": "unchanged since the browser's last request", "https://www.shop.example/favicon.ico": "icon", "wss://api.shop.example/live": "another host",
		"https://www.shop.example/telemetry": "telemetry",
	}
	want["wss://api.shop.example/live"] = "WebSocket"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("dropped:\n%v\nwant\n%v", got, want)
	}
	if len(d.Services) != 2 {
		t.Errorf("services: %+v", d.Services)
	}
}

// TestNoSecretLeaves puts secrets wherever a recording may have them.
func TestNoSecretLeaves(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	r := newRecorded()
	e := r.call("POST", api+"/oauth/token?key=CANARY-url-1", "grant_type=client_credentials&client_id=app&client_secret=CANARY-client-1", 200, `{"access_token": "CANARY-token-1"}`,
		"Authorization: Basic "+"Q0FOQVJZLWI2NC0xOkNBTkFSWS1iNjQtMg==")
	e.Page = "https://shop.example/?session=CANARY-url-1"
	r.call("POST", api+"/a", `{"card_number": "4111 1111 1111 1111", "cvv": "915", "n": {"password": "CANARY-pw-1"}, "text": "{\"apiKey\":\"CANARY-inner-1\"}", "note": "CANARY-pw-1!"}`, 200, `{}`,
		"Authorization: Bearer CANARY-token-1", "X-Api-Key: CANARY-key-1", "Cookie: sid=CANARY-cookie-1")
	r.call("GET", api+"/b/CANARY-pw-1?jwt="+jwt+"&opaque=Zm9vYmFyQ0FOQVJZLXh5ejEyMzQ1", "", 200, `{}`, "Authorization: Bearer "+jwt, "X-Thing: "+jwt)
	x := r.call("POST", api+"/xml", "", 200, `{}`)
	x.Request.Type, x.Request.Body = "application/xml", "<login><password>CANARY-xml-1</password><user>ann</user></login>"
	d := draft(t, r)
	for _, secret := range []string{"CANARY", "Q0FOQVJZ", "4111", "915", jwt, jwt[:20], "Zm9vYmFy"} {
		if found := leaks(reflect.ValueOf(d), "", secret); found != nil {
			t.Errorf("%s is in\n%s", secret, strings.Join(found, "\n"))
		}
	}
	values := ""
	for _, s := range d.Secrets {
		values += s.Value + "\n"
	}
	for _, secret := range []string{"CANARY-client-1", "CANARY-pw-1", "CANARY-inner-1", "CANARY-key-1", "CANARY-cookie-1", "CANARY-xml-1", "CANARY-url-1", "4111 1111 1111 1111", jwt} {
		if !strings.Contains(values, secret) {
			t.Errorf("%s is lost; secrets:\n%s", secret, values)
		}
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}
