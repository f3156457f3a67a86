package journey_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/importer/journey"
)

func TestOAuth2(t *testing.T) {
	for name, body := range map[string]string{
		"password":           "grant_type=password&username=ann&password=canary-1&client_id=web&scope=read",
		"client credentials": "grant_type=client_credentials&client_id=web&client_secret=canary-1",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorded()
			r.call("POST", api+"/oauth/token", body, 200, `{"access_token": "abc-8812-zz", "token_type": "bearer", "expires_in": 3600}`)
			r.call("GET", api+"/orders", "", 200, `[]`, "Authorization: Bearer abc-8812-zz")
			d := draft(t, r)
			same(t, d, "get_orders: GET /orders")
			a := d.Services[0].Auth
			if a.Kind != importer.Login || a.Token != "body.access_token" || a.Request.Body.Kind != importer.Form || len(d.Secrets) != 1 || d.Secrets[0].Value != "canary-1" {
				t.Errorf("%+v %+v", a, d.Secrets)
			}
			if found := leaks(reflect.ValueOf(d), "", "canary"); found != nil {
				t.Errorf("the secret is in %v", found)
			}
		})
	}
}

// TestLoginIsAStepIfTheJourneyNeedsItsAnswer checks that a login whose answer has more than the token stays in the journey.
func TestLoginIsAStepIfTheJourneyNeedsItsAnswer(t *testing.T) {
	r := newRecorded()
	r.call("POST", api+"/login", `{"user": "ann-1", "password": "pw-1"}`, 200, `{"token": "tk-8812-zz", "user_id": 90017}`)
	r.call("GET", api+"/users/90017/orders", "", 200, `[]`, "Authorization: Bearer tk-8812-zz")
	same(t, draft(t, r),
		"login: POST /login {user: ${agent.user}, password: secret:API_PASSWORD}",
		"get_user_orders: GET /users/${POST /login.user_id}/orders [Authorization=Bearer ${POST /login.token}]")
}

func TestSignUpIsNewInEachSession(t *testing.T) {
	r := newRecorded()
	r.call("POST", api+"/register", `{"email": "ann@shop.example", "username": "ann-1", "password": "pw-1"}`, 201, `{"email": "ann@shop.example"}`)
	r.call("POST", api+"/login", `{"email": "ann@shop.example", "password": "pw-1"}`, 200, `{"token": "tk-8812-zz"}`)
	r.call("PUT", api+"/me", `{"email": "ann@shop.example", "city": "Bern"}`, 200, `{}`, "Authorization: Bearer tk-8812-zz")
	same(t, draft(t, r),
		`register: POST /register {email: ${"user-" + session.uuid + "@example.com"}, username: ${"user" + session.uuid.replace("-", "")[:16]}, password: secret:API_PASSWORD}`,
		`login: POST /login {email: ${"user-" + session.uuid + "@example.com"}, password: secret:API_PASSWORD}`,
		`update_me: PUT /me [Authorization=Bearer ${POST /login.token}] {email: ${"user-" + session.uuid + "@example.com"}, city: Bern}`)
}

func TestRedirects(t *testing.T) {
	r := newRecorded()
	r.call("POST", api+"/orders", "a=1", 303, "", "<Location: /orders/ord-77120")
	r.call("GET", api+"/orders/ord-77120", "", 200, `{"state": "done"}`)
	r.call("POST", api+"/orders/ord-77120/pay", "b=1", 302, "", "<Location: https://bank.example/pay")
	r.call("POST", api+"/leave", "c=1", 302, "", "<Location: /home")
	r.call("GET", api+"/home", "", 200, `<html>`)
	same(t, draft(t, r),
		"create_order: POST /orders a=1 expect [303]",
		`get_order: GET /orders/${POST /orders.headers.location.split("/")[-1]}`,
		`pay_order: POST /orders/${POST /orders.headers.location.split("/")[-1]}/pay b=1 expect [302]`,
		"create_leave: POST /leave c=1 follow")
}

// TestChromeLeavesCredentialsOut uses a recording as Chrome saves it unless asked otherwise.
func TestChromeLeavesCredentialsOut(t *testing.T) {
	r := newRecorded()
	r.Sanitized = true
	r.call("GET", api+"/products", "", 200, `[]`)
	r.call("POST", api+"/login", `{"user": "ann-1", "password": "pw-1"}`, 200, `{"accessToken": "tk-8812-zz"}`)
	r.call("GET", api+"/orders", "", 200, `[]`)
	d := draft(t, r)
	same(t, d, "get_products: GET /products public", "get_orders: GET /orders")
	if a := d.Services[0].Auth; a.Kind != importer.Login || a.Token != "body.accessToken" || !strings.Contains(a.Note, "Chrome left cookies and credentials out") {
		t.Errorf("%+v", a)
	}
}

// TestAParallelAnswerIsNoSource checks that a value is not taken from an answer that arrived after the request was sent.
func TestAParallelAnswerIsNoSource(t *testing.T) {
	r := newRecorded()
	r.call("GET", api+"/first", "", 200, `{"cart_id": "c-77120"}`)
	slow := r.call("GET", api+"/slow", "", 200, `{"cart_id": "c-77120", "late": "l-88123"}`)
	slow.Duration = 10 * time.Second
	r.call("GET", api+"/carts/c-77120", "", 200, `{}`)
	r.call("GET", api+"/late?late=l-88123", "", 200, `{}`)
	same(t, draft(t, r), "get_first: GET /first", "get_slow: GET /slow", "get_cart: GET /carts/${GET /first.cart_id}", "get_late: GET /late?late=l-88123")
}

func TestItemsThatBelongTogether(t *testing.T) {
	r := newRecorded()
	r.call("GET", api+"/products", "", 200, `{"items": [{"id": "p-100", "price": 7.25}, {"id": "p-200", "price": 9.75}, {"id": "p-300", "price": 5.25}]}`)
	r.call("POST", api+"/cart", `{"product_id": "p-300", "price": 5.25}`, 200, `{}`)
	r.call("POST", api+"/cart", `{"product_id": "p-100", "price": 7.25}`, 200, `{}`)
	d := draft(t, r)
	same(t, d, "get_products: GET /products",
		"create_cart: POST /cart {product_id: ${GET /products.items[0].id}, price: ${GET /products.items[0].price}}",
		"create_cart_2: POST /cart {product_id: ${GET /products.items[1].id}, price: ${GET /products.items[1].price}}")
}

func TestClientMadeValues(t *testing.T) {
	r := newRecorded()
	r.call("POST", api+"/events", `{"id": "0b0e7f52-93a2-4a5c-8d35-3f0a9f6f1d11", "at": 1795176000012, "when": "2026-11-20T12:00:00.020Z", "tenant": "5c1f52aa-1111-4a5c-8d35-3f0a9f6f1d22"}`, 200, `{}`,
		"X-Session-Id: aaaa7f52-93a2-4a5c-8d35-3f0a9f6f1d33")
	r.call("GET", api+"/a?_=1795176000062", "", 200, `{}`, "X-Session-Id: aaaa7f52-93a2-4a5c-8d35-3f0a9f6f1d33", "Idempotency-Key: x", "User-Agent: Mozilla", "Accept: application/vnd.api+json")
	d := draft(t, r)
	same(t, d,
		"create_event: POST /events {id: ${uuid()}, at: ${now.unix * 1000}, when: ${now.iso}, tenant: 5c1f52aa-1111-4a5c-8d35-3f0a9f6f1d22}",
		"get_a: GET /a?_=${now.unix * 1000} [Accept=application/vnd.api+json]")
	if h := d.Services[0].Headers; len(h) != 1 || h[0].Name != "X-Session-Id" || h[0].Value.Expr != "session.uuid" {
		t.Errorf("headers of the service: %+v", h)
	}
}

func TestBodies(t *testing.T) {
	r := newRecorded()
	x := r.call("POST", api+"/files", "", 200, `{}`)
	x.Request.Type = "multipart/form-data; boundary=b"
	x.Request.Body = "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"C:\\a.txt\"\r\nContent-Type: text/plain\r\n\r\nabc\r\n--b--\r\n"
	x = r.call("POST", api+"/soap", "", 200, `<r><ticket>tk-8812</ticket></r>`)
	x.Request.Type, x.Request.Body = "application/soap+xml", "<q/>"
	x = r.call("POST", api+"/soap", "", 200, ``)
	x.Request.Type, x.Request.Body = "application/soap+xml", "<q><t>tk-8812</t></q>"
	r.call("POST", api+"/list", `[1, {"a": null, "b": []}]`, 200, `{}`)
	r.call("GET", api+"/search?tag=a&tag=b&empty=", "", 200, `{}`)
	r.call("POST", api+"/graphql", `{"operationName": "AddItem", "query": "mutation AddItem { a }", "variables": {"n": 5}}`, 200, `{}`)
	d := draft(t, r)
	same(t, d,
		"create_file: POST /files note=hello",
		"create_soap: POST /soap [Content-Type=application/soap+xml] <q/>",
		`create_soap_2: POST /soap [Content-Type=application/soap+xml] <q><t>${extract(POST /soap.body, "ticket>([^\"'<>&\\s,;]+)")}</t></q>`,
		"create_list: POST /list [1, {a: null, b: []}]",
		"get_search: GET /search?tag=[a, b]&empty=",
		"add_item: POST /graphql {operationName: AddItem, query: mutation AddItem { a }, variables: {n: 5}}")
	x = r.call("POST", api+"/files", "", 200, `{}`)
	x.Request.Type, x.Request.Parts = "multipart/form-data", []exchange.Part{{Name: "f", File: "b.png", Type: "image/png"}}
	if other := draft(t, r); len(other.Files) != 2 || !strings.Contains(string(other.Files[1].Text), "stands in for b.png") || len(other.Steps[6].Notes) != 1 {
		t.Errorf("files: %+v", other.Files)
	}
	if len(d.Files) != 1 || d.Files[0].Name != "a.txt" || string(d.Files[0].Text) != "abc" || !reflect.DeepEqual(d.Steps[0].Body.Files, []importer.Upload{{Field: "f", Name: "a.txt", Type: "text/plain", File: "a.txt"}}) {
		t.Errorf("files: %+v, %+v", d.Files, d.Steps[0].Body.Files)
	}
}

func TestDraftOfCommands(t *testing.T) {
	r, err := exchange.ReadCURL(`curl https://api.shop.example/orders -H "Authorization: Bearer $SHOP_TOKEN" -H 'User-Agent: x'
curl -L https://api.shop.example/orders/17 -X PUT -H "Authorization: Bearer $SHOP_TOKEN" --json '{"n": "'$COUNT'"}'`)
	if err != nil {
		t.Fatal(err)
	}
	d, err := journey.Draft([]*exchange.Recording{r}, journey.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, d, "get_orders: GET /orders", `update_order: PUT /orders/open(17, steps.get_orders.body[0].id) [Accept=application/json] {n: open(<nil>, a parameter)} follow`)
	if a := d.Services[0].Auth; a.Kind != importer.Bearer || a.Secret != "SHOP_TOKEN" || len(d.Secrets) != 1 || d.Secrets[0].Value != "" {
		t.Errorf("%+v %+v", a, d.Secrets)
	}
}

func TestDraftOfACollection(t *testing.T) {
	r, err := exchange.ReadPostman([]byte(`{"info": {"schema": "v2.1.0"}, "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]}, "item": [
{"name": "Log in", "event": [{"listen": "test", "script": {"exec": ["pm.environment.set('token', pm.response.json().token);"]}}],
 "request": {"auth": {"type": "noauth"}, "method": "POST", "url": "{{baseUrl}}/login", "body": {"mode": "raw", "raw": "{\"user\": \"ann\", \"password\": \"{{password}}\"}"}}},
{"name": "New order", "request": {"method": "POST", "url": "{{baseUrl}}/orders", "body": {"mode": "raw", "raw": "{\"ref\": \"{{$guid}}\", \"n\": \"{{count}}\"}"}},
 "response": [{"code": 201, "body": "{\"id\": \"ord-8812\"}"}]},
{"name": "Read order", "request": {"method": "GET", "url": "{{baseUrl}}/orders/ord-8812"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := journey.Draft([]*exchange.Recording{r}, journey.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, d, "new_order: POST /orders {ref: ${uuid()}, n: open(<nil>, a parameter)}", "read_order: GET /orders/${POST /orders.id}")
	s := d.Services[0]
	if s.URL != "" || s.Name != "base_url" || s.Auth.Kind != importer.Login || s.Auth.Token != "body.token" || text(s.Auth.Request.Body.Value) != "{user: ${agent.user}, password: secret:PASSWORD}" {
		t.Errorf("%+v, login %s", s, line(s.Auth.Request))
	}
	if !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "does not say the address") }) {
		t.Errorf("notes: %q", d.Notes)
	}
}

func TestPauses(t *testing.T) {
	r := newRecorded()
	for i, pause := range []time.Duration{0, 2 * time.Second, 0, 4 * time.Second, 8 * time.Second, time.Hour, 4 * time.Second, 4 * time.Second} {
		r.pause(pause)
		r.call("GET", api+"/"+string(rune('a'+i)), "", 200, `{}`)
	}
	d := draft(t, r)
	var with int
	for _, s := range d.Steps {
		if s.Think.Median > 0 {
			with++
			if s.Think.Median < 5*time.Second || s.Think.Median > 9*time.Second || s.Think.Sigma < 0.8 || s.Think.Sigma > 1.5 {
				t.Errorf("%s: %+v", s.Name, s.Think)
			}
		}
	}
	if with != 6 || !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "One pause of the recording was longer") }) {
		t.Errorf("%d pauses, notes %q", with, d.Notes)
	}
}

// TestLocationNamesNoResource checks that the fixed parts of a Location are not taken for IDs.
func TestLocationNamesNoResource(t *testing.T) {
	r := newRecorded()
	r.call("GET", api+"/api/books", "", 200, `[]`)
	r.call("POST", api+"/api/books", `{"title": "Dune"}`, 201, `{"id": 209, "title": "Dune"}`, "<Location: /api/books/209")
	r.call("GET", api+"/api/books/209", "", 200, `{"id": 209}`)
	r.call("PUT", api+"/api/books/209", `{"title": "Emma"}`, 200, `{"id": 209}`)
	r.call("POST", api+"/api/orders", `{"book": "Emma"}`, 201, `{"id": "o-1"}`)
	r.call("GET", api+"/api/orders/o-1", "", 200, `{"id": "o-1"}`)
	r.call("DELETE", api+"/api/books/209", "", 204, "")
	d := draft(t, r)
	same(t, d,
		"get_books: GET /api/books",
		"create_book: POST /api/books {title: Dune}",
		"get_book: GET /api/books/${POST /api/books.id}",
		"update_book: PUT /api/books/${GET /api/books/{id}.id} {title: Emma}",
		"create_order: POST /api/orders {book: Emma}",
		"get_order: GET /api/orders/${POST /api/orders.id}",
		"delete_book: DELETE /api/books/${PUT /api/books/{id}.id}")
	if title := d.Steps[2].Title; title != "GET /api/books/{id}" {
		t.Errorf("title %q", title)
	}
}

// TestFailedSignInIsLeftOut checks that a mistyped password is not part of the journey.
func TestFailedSignInIsLeftOut(t *testing.T) {
	r := newRecorded()
	r.call("POST", api+"/login", `{"user": "ann-1", "password": "pw-typo"}`, 401, `{"error": "wrong password"}`)
	r.pause(3*time.Second).call("POST", api+"/login", `{"user": "ann-1", "password": "pw-1"}`, 200, `{"ok": true}`, "<Set-Cookie: sid=abc; Path=/")
	r.call("GET", api+"/orders", "", 200, `[]`, "Cookie: sid=abc")
	d := draft(t, r)
	same(t, d, "login: POST /login {user: ${agent.user}, password: secret:API_PASSWORD}", "get_orders: GET /orders")
	if len(d.Secrets) != 1 || d.Secrets[0].Value != "pw-1" {
		t.Errorf("secrets %+v", d.Secrets)
	}
	want := importer.Dropped{What: "POST /login", Reason: "a failed sign-in (status 401) that a successful one follows", Count: 1}
	if !slices.Contains(d.Dropped, want) {
		t.Errorf("left out: %+v", d.Dropped)
	}
}

// TestLastFailedSignInStays checks that a visit that ends with a refused login keeps it: that may be what it is about.
func TestLastFailedSignInStays(t *testing.T) {
	r := newRecorded()
	r.call("POST", api+"/login", `{"user": "ann-1", "password": "pw-1"}`, 200, `{"ok": true}`, "<Set-Cookie: sid=abc; Path=/")
	r.call("POST", api+"/login", `{"user": "ann-1", "password": "pw-typo"}`, 401, `{"error": "wrong password"}`)
	if d := draft(t, r); len(d.Steps) != 2 {
		t.Errorf("%d steps", len(d.Steps))
	}
}

// pasted are the commands of a session with a cookie, without their answers.
const pasted = `curl http://127.0.0.1:3000/api/login -H 'Content-Type: application/json' -d '{"user": "ann-1", "password": "canary-1"}'
curl http://127.0.0.1:3000/api/books -b 'sid=%s'
curl http://127.0.0.1:3000/api/books -b 'sid=%[1]s' --json '{"title": "Dune"}'
curl http://127.0.0.1:3000/api/books/61 -b 'sid=%[1]s'
curl http://127.0.0.1:3000/api/orders -b 'sid=%[1]s' --json '{"book_id": 61, "count": 61}'`

// TestPastedCommandsSignIn checks that a login among pasted commands sets the cookie of later ones, and that their IDs are not fixed.
func TestPastedCommandsSignIn(t *testing.T) {
	for _, cookie := range []string{"abc", "s%3A8f3a77c1d2e94b55a0c6.Zk91"} {
		r, err := exchange.ReadCURL(strings.NewReplacer("%s", cookie, "%[1]s", cookie).Replace(pasted))
		if err != nil {
			t.Fatal(err)
		}
		d, err := journey.Draft([]*exchange.Recording{r}, journey.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s := d.Services[0]; !s.Cookies || s.Auth.Kind != importer.NoAuth || len(d.Secrets) != 1 || d.Secrets[0].Name != "BACKEND_PASSWORD" {
			t.Errorf("%s: %+v, secrets %+v", cookie, s, d.Secrets)
		}
		same(t, d,
			"login: POST /api/login {user: ${agent.user}, password: secret:BACKEND_PASSWORD}",
			"get_books: GET /api/books",
			"create_book: POST /api/books [Accept=application/json] {title: Dune}",
			"get_book: GET /api/books/open(61, steps.create_book.id, steps.get_books.body[0].id)",
			"create_order: POST /api/orders [Accept=application/json] {book_id: open(61, steps.create_book.id, steps.get_books.body[0].id), count: 61}")
		w := d.Write()
		if want := []string{"step get_book: book_id (for example 61)", "step create_order: book_id (for example 61)"}; !slices.Equal(w.Open, want) {
			t.Errorf("to decide: %q", w.Open)
		}
	}
}

// TestCookieFilesOfCommands checks that a cookie jar of curl is the cookies of each agent.
func TestCookieFilesOfCommands(t *testing.T) {
	for commands, note := range map[string]string{
		"curl -c jar.txt -d user=ann http://127.0.0.1:3000/enter\ncurl -b jar.txt http://127.0.0.1:3000/books": "",
		"curl -b jar.txt http://127.0.0.1:3000/books":                                                          "The cookies are in the file jar.txt, which was not read.",
	} {
		r, err := exchange.ReadCURL(commands)
		if err != nil {
			t.Fatal(err)
		}
		d, err := journey.Draft([]*exchange.Recording{r}, journey.Options{})
		if err != nil || !d.Services[0].Cookies || strings.Join(d.Notes, " ") != note {
			t.Errorf("%s: %+v, notes %q, %v", commands, d.Services, d.Notes, err)
		}
	}
}
