package exchange_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/importer/exchange"
)

const chrome = `{"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"},
"pages": [{"id": "page_1", "title": "https://shop.example/cart?session=abc"}],
"entries": [
{"_initiator": {"type": "script"}, "_resourceType": "xhr", "pageref": "page_1", "startedDateTime": "2026-11-20T12:00:01.000Z", "time": 120.5,
 "request": {"method": "POST", "url": "https://shop.example/api/items", "headers": [{"name": ":authority", "value": "shop.example"}, {"name": "X-A", "value": "1"}],
  "cookies": [{"name": "sid", "value": "s1"}], "postData": {"mimeType": "application/json", "text": "{\"id\": 7}"}},
 "response": {"status": 201, "headers": [{"name": "Content-Type", "value": "application/json"}], "content": {"size": 9, "mimeType": "application/json", "text": "eyJhIjogMX0=", "encoding": "base64"}, "redirectURL": ""}},
{"pageref": "page_1", "startedDateTime": "2026-11-20T12:00:00.000Z", "time": 20, "request": {"method": "GET", "url": "https://shop.example/logo.png", "headers": []},
 "response": {"status": 200, "headers": [], "content": {"mimeType": "image/png", "text": "iVBORw0KGgo=", "encoding": "base64"}}}
]}}`

func TestReadHAR(t *testing.T) {
	r, err := exchange.ReadHAR(strings.NewReader("\ufeff" + chrome))
	if err != nil {
		t.Fatal(err)
	}
	if r.Source != "a recording of Chrome, 2 requests" || r.Partial != "" || len(r.Exchanges) != 2 {
		t.Fatalf("%+v", r)
	}
	logo, post := r.Exchanges[0], r.Exchanges[1] // in the order of time
	if !logo.Response.Binary || logo.Response.Body != "" {
		t.Errorf("the body of an image was kept: %+v", logo.Response)
	}
	want := exchange.Exchange{
		Start: time.Date(2026, 11, 20, 12, 0, 1, 0, time.UTC), Duration: 120500 * time.Microsecond, Page: "shop.example/cart", Type: "xhr", Method: "POST",
		URL: "https://shop.example/api/items", Status: 201,
	}
	if post.Start != want.Start || post.Duration != want.Duration || post.Page != want.Page || post.Type != want.Type || post.URL != want.URL || post.Status != want.Status {
		t.Errorf("got %+v", post)
	}
	if post.Request.Body != `{"id": 7}` || post.Response.Body != `{"a": 1}` || post.Request.Header("cookie") != "sid=s1" || len(post.Request.Headers) != 2 {
		t.Errorf("messages: %+v %+v", post.Request, post.Response)
	}
}

// TestProgramsDiffer reads what browsers and proxies leave out or write differently.
func TestProgramsDiffer(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"status as text":        {`{"log": {"entries": [{"request": {"url": "http://a/", "method": "get"}, "response": {"status": "204"}, "time": "12"}]}}`, "GET http://a/ 204"},
		"null everywhere":       {`{"log": {"pages": null, "creator": null, "entries": [{"pageref": null, "time": null, "request": {"url": "http://a/", "headers": null, "postData": null}, "response": null}]}}`, "GET http://a/ 0"},
		"wrong types":           {`{"log": {"creator": [], "entries": [{"request": {"url": "http://a/", "headers": {"a": "b"}}, "response": {"status": 200, "content": []}}]}}`, "GET http://a/ 200"},
		"entries before pages":  {`{"log": {"entries": [{"pageref": "p", "request": {"url": "http://a/"}, "response": {"status": 200}}], "pages": [{"id": "p", "title": "Shop"}]}}`, "GET http://a/ 200 Shop"},
		"without log":           {`{"entries": [{"request": {"url": "http://a/"}, "response": {"status": 200}}]}`, "GET http://a/ 200"},
		"no URL in one":         {`{"log": {"entries": [{"request": {}}, {"request": {"url": "http://a/"}, "response": {"status": 200}}]}}`, "GET http://a/ 200"},
		"time without zone":     {`{"log": {"entries": [{"startedDateTime": "2026-11-20T12:00:00+0100", "request": {"url": "http://a/"}, "response": {"status": 200}}]}}`, "GET http://a/ 200"},
		"parameters, no text":   {`{"log": {"entries": [{"request": {"method": "POST", "url": "http://a/", "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": 1}]}}, "response": {"status": 200}}]}}`, "POST http://a/ 200 a=1"},
		"a redirect of Firefox": {`{"log": {"entries": [{"request": {"url": "http://a/"}, "response": {"status": 302, "redirectURL": "/b"}}]}}`, "GET http://a/ 302 to /b"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := exchange.ReadHAR(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			e := r.Exchanges[0]
			got := fmt.Sprintf("%s %s %d", e.Method, e.URL, e.Status)
			if e.Page != "" {
				got += " " + e.Page
			}
			for _, p := range e.Request.Parts {
				got += " " + p.Name + "=" + p.Value
			}
			if to := e.Response.Header("Location"); to != "" {
				got += " to " + to
			}
			if got != c.want || len(r.Exchanges) != 1 {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDamagedHAR(t *testing.T) {
	end := strings.Index(chrome, `{"pageref"`)
	r, err := exchange.ReadHAR(strings.NewReader(chrome[:end+60]))
	if err != nil || len(r.Exchanges) != 1 || r.Partial != "The HAR is damaged after request 1 (the text ends too early). The requests before that were read." {
		t.Errorf("cut off in the second entry: %v, %+v", err, r)
	}
	for cut := range len(chrome) { // it must never fail in another way
		if r, err := exchange.ReadHAR(strings.NewReader(chrome[:cut])); err == nil && r.Partial == "" {
			t.Errorf("cut off at %d: not marked as partial", cut)
		}
	}
	for text, want := range map[string]string{
		"":                                "this is not a HAR",
		"<html>":                          "this is not a HAR",
		"[1, 2]":                          "it has no list log.entries",
		`{"log": {"version": "1.2"}}`:     "it has no list log.entries",
		`{"log": {"entries": []}}`:        "the HAR has no requests",
		`{"log": {"entries": [{"request"`: "damaged before its first complete request",
	} {
		if _, err := exchange.ReadHAR(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHARRoundTrip(t *testing.T) {
	var b bytes.Buffer
	w, err := exchange.NewHARWriter(&b, "Throng", "1.0")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		e := exchange.Exchange{
			Start: time.Date(2026, 11, 20, 12, 0, i, 0, time.UTC), Duration: 1500 * time.Microsecond, Method: "POST", URL: "http://127.0.0.1:8000/a?b=%20c", Status: 302,
			Request:  exchange.Message{Headers: []exchange.Field{{Name: "X-A", Value: "1"}}, Type: "application/json", Body: `{"a": "<ä>"}`},
			Response: exchange.Message{Headers: []exchange.Field{{Name: "Location", Value: "/b"}}, Type: "text/html", Body: "<p>"},
		}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	cut, err := exchange.ReadHAR(bytes.NewReader(b.Bytes()))
	if err != nil || len(cut.Exchanges) != 2 || cut.Partial == "" {
		t.Errorf("before Close: %v %+v", err, cut)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Errorf("not JSON: %s", b.Bytes())
	}
	r, err := exchange.ReadHAR(&b)
	if err != nil || r.Partial != "" || len(r.Exchanges) != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	e := r.Exchanges[1]
	if e.Request.Body != `{"a": "<ä>"}` || e.Response.Body != "<p>" || e.Duration != 1500*time.Microsecond || e.Response.Header("location") != "/b" || e.Start.Second() != 1 {
		t.Errorf("%+v", e)
	}
}

// bigHAR yields a HAR of about a size. Every entry has a JSON answer of the given size.
func bigHAR(size, answer int) io.Reader {
	random := rand.New(rand.NewPCG(1, 2))
	var item strings.Builder
	for item.Len() < answer {
		fmt.Fprintf(&item, `{\"id\": \"p-%d\", \"name\": \"Lamp %d\", \"price\": %d.99},`, random.IntN(1e6), random.IntN(1e6), random.IntN(100))
	}
	entry := `{"_resourceType": "xhr", "startedDateTime": "2026-11-20T12:00:%02d.%03dZ", "time": 12, "request": {"method": "GET", "url": "https://shop.example/api/products/p-%d", ` +
		`"headers": [{"name": "Accept", "value": "application/json"}, {"name": "User-Agent", "value": "Mozilla/5.0 (X11; Linux x86_64)"}]}, ` +
		`"response": {"status": 200, "headers": [{"name": "Content-Type", "value": "application/json"}], "content": {"mimeType": "application/json", "text": "{\"items\": [` + strings.TrimSuffix(item.String(), ",") + `]}"}}}`
	r, w := io.Pipe()
	go func() {
		written := 0
		fmt.Fprint(w, `{"log": {"creator": {"name": "Firefox"}, "entries": [`)
		for i := 0; written < size; i++ {
			if i > 0 {
				fmt.Fprint(w, ",\n")
			}
			n, err := fmt.Fprintf(w, entry, i/1000%60, i%1000, random.IntN(1e6))
			if err != nil {
				return
			}
			written += n
		}
		fmt.Fprint(w, "]}}")
		_ = w.Close()
	}()
	return r
}

func TestManyEntries(t *testing.T) {
	r, err := exchange.ReadHAR(bigHAR(10_000*700, 100))
	if err != nil || r.Partial != "" || len(r.Exchanges) < 10_000 {
		t.Errorf("%v, %d entries", err, len(r.Exchanges))
	}
}

func BenchmarkReadHAR50MB(b *testing.B) {
	for b.Loop() {
		r, err := exchange.ReadHAR(bigHAR(50<<20, 20_000))
		if err != nil {
			b.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MB")
		runtime.KeepAlive(r)
	}
}

func FuzzReadHAR(f *testing.F) {
	f.Add([]byte(chrome))
	f.Add([]byte(`{"log": {"entries": [{"request": {"url": "http://a/", "postData": {"text": "AA", "encoding": "base64"}}}], "pages": {}}}`))
	f.Add([]byte(`{"log": [1], "entries": {"a": [}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := exchange.ReadHAR(bytes.NewReader(data))
		if err == nil && len(r.Exchanges) == 0 {
			t.Error("a recording without requests")
		}
	})
}
