package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/importing"
)

// harBytes is the size of the recording.
const harBytes = 50_000_000

// importRow measures the import of a recording of a browser.
func importRow() row {
	return row{
		name: "18", what: "An import of a HAR of 50 MB: a long visit to a shop, with its scripts and pictures",
		sides: []side{
			{name: "Throng", run: importHAR},
			{name: "encoding/json alone, into a tree", run: decodeHAR},
		},
		shown: []string{"s", "CPU s", "peak MB", "requests", "steps"},
		ratios: []ratio{
			{name: "s", must: 3, aim: 1, less: true, of: plain("s")},
			{name: "MB at the peak", must: 300, less: true, of: plain("peak MB")},
			{name: "of the time of encoding/json alone", less: true, of: over(0, "s", 1, "s")},
		},
		note: "From the file to the written scenario.",
	}
}

func importHAR(ctx context.Context, e env) (figures, error) {
	file := filepath.Join(e.dir, "shop.har")
	requests, err := writeHAR(file)
	if err != nil {
		return nil, err
	}
	began, used := time.Now(), ownTime()
	d, err := importing.Read(ctx, importing.Options{Source: file})
	if err != nil {
		return nil, err
	}
	d.Secrets = nil // nothing of the benchmark belongs into the keychain
	saved, err := importing.Save(d, filepath.Join(e.dir, "shop.yaml"), e.dir)
	if err != nil {
		return nil, err
	}
	f := figures{
		"s": time.Since(began).Seconds(), "CPU s": (ownTime() - used).Seconds(), "peak MB": ownPeak(),
		"requests": float64(requests), "steps": float64(len(d.Steps)),
	}
	if _, err := os.Stat(saved.File); err != nil {
		return nil, err
	}
	return f, nil
}

func decodeHAR(_ context.Context, e env) (figures, error) {
	file := filepath.Join(e.dir, "shop.har")
	requests, err := writeHAR(file)
	if err != nil {
		return nil, err
	}
	began, used := time.Now(), ownTime()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	return figures{"s": time.Since(began).Seconds(), "CPU s": (ownTime() - used).Seconds(), "peak MB": ownPeak(), "requests": float64(requests)}, nil
}

// harWriter writes the HAR of a made-up visit, the same one each time.
type harWriter struct {
	out    *bufio.Writer
	random *rand.Rand
	at     time.Time
	bytes  int
	n      int
	err    error
}

// writeHAR writes a HAR as Chrome saves it, and returns its number of requests. Half of its bytes are pictures and scripts; the rest is
// pages and JSON, in which later requests find their values.
func writeHAR(file string) (requests int, err error) {
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	w := &harWriter{out: bufio.NewWriterSize(f, 1<<16), random: rand.New(rand.NewPCG(18, 50)), at: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	w.text(`{"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[{"startedDateTime":"2026-03-04T09:00:00.000Z","id":"page_1","title":"https://shop.example/","pageTimings":{"onLoad":812.2}}],"entries":[`)
	w.login()
	for page := 1; w.bytes < harBytes; page++ {
		w.page(page)
	}
	w.text("]}}")
	return w.n, errors.Join(w.err, w.out.Flush(), f.Close())
}

func (w *harWriter) text(s string) {
	n, err := w.out.WriteString(s)
	w.bytes += n
	w.err = errors.Join(w.err, err)
}

// exchanged is a request of the visit and its answer.
type exchanged struct {
	kind, method, url, post string
	status                  int
	answerType, answer      string
	binary                  bool // the answer is written in base64
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// entry writes an exchange with all that Chrome writes of it.
func (w *harWriter) entry(x exchanged) {
	w.at = w.at.Add(time.Duration(40+w.random.IntN(400)) * time.Millisecond)
	headers := []harPair{
		{":authority", "shop.example"},
		{":method", x.method},
		{":scheme", "https"},
		{"accept", "application/json, text/plain, */*"},
		{"accept-encoding", "gzip, deflate, br, zstd"},
		{"accept-language", "en-US,en;q=0.9"},
		{"cookie", "sid=9f2c4be07ad1; theme=dark"},
		{"authorization", "Bearer " + visitToken},
		{"referer", "https://shop.example/"},
		{"sec-fetch-mode", "cors"},
		{"user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"},
	}
	request := map[string]any{"method": x.method, "url": x.url, "httpVersion": "http/2.0", "headers": headers, "queryString": []harPair{}, "cookies": []harPair{}, "headersSize": -1, "bodySize": len(x.post)}
	if x.post != "" {
		request["headers"] = append(headers, harPair{"content-type", "application/json"})
		request["postData"] = map[string]any{"mimeType": "application/json", "text": x.post}
	}
	content := map[string]any{"size": len(x.answer), "mimeType": x.answerType, "text": x.answer}
	if x.binary {
		content["text"], content["encoding"] = base64.StdEncoding.EncodeToString([]byte(x.answer)), "base64"
	}
	took := 12 + 80*w.random.Float64()
	text, err := json.Marshal(map[string]any{
		"_initiator": map[string]any{"type": "script", "stack": map[string]any{"callFrames": []map[string]any{
			{"functionName": "load", "scriptId": "27", "url": "https://shop.example/assets/app.js", "lineNumber": 12, "columnNumber": 20412},
			{"functionName": "render", "scriptId": "27", "url": "https://shop.example/assets/app.js", "lineNumber": 12, "columnNumber": 88123},
		}}},
		"_priority": "High", "_resourceType": x.kind, "cache": map[string]any{}, "connection": "443", "pageref": "page_1", "request": request,
		"response": map[string]any{
			"status": x.status, "statusText": "", "httpVersion": "http/2.0", "cookies": []harPair{}, "content": content, "redirectURL": "", "headersSize": -1, "bodySize": -1,
			"headers": []harPair{{"content-type", x.answerType}, {"date", "Wed, 04 Mar 2026 09:00:00 GMT"}, {"server", "nginx"}, {"x-request-id", fmt.Sprintf("%016x", w.random.Uint64())}},
		},
		"serverIPAddress": "203.0.113.7", "startedDateTime": w.at.Format("2006-01-02T15:04:05.000Z"), "time": took,
		"timings": map[string]float64{"blocked": 1.2, "dns": -1, "ssl": -1, "connect": -1, "send": 0.2, "wait": took - 3, "receive": 1.6},
	})
	w.err = errors.Join(w.err, err)
	if w.n++; w.n > 1 {
		w.text(",\n")
	}
	w.text(string(text))
}

const visitToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1LTQ3MTEifQ.Jx3q0Tz0b1u5nE2v6gk"

func (w *harWriter) login() {
	w.entry(exchanged{kind: "document", method: "GET", url: "https://shop.example/", status: 200, answerType: "text/html; charset=utf-8", answer: w.html(0)})
	w.entry(exchanged{
		kind: "xhr", method: "POST", url: "https://shop.example/api/login", post: `{"email":"ada@example.org","password":"correct horse"}`, status: 200,
		answerType: "application/json", answer: `{"token":"` + visitToken + `","user":{"id":"u-4711","name":"Ada"}}`,
	})
}

// page is one page of the visit: its script and pictures, a list, a product of it, and a product in the cart.
func (w *harWriter) page(n int) {
	w.entry(exchanged{kind: "script", method: "GET", url: fmt.Sprintf("https://shop.example/assets/chunk-%d.js", n), status: 200, answerType: "application/javascript", answer: w.words(12_000, "=>(){};")})
	for i := range 4 {
		w.entry(exchanged{kind: "image", method: "GET", url: fmt.Sprintf("https://shop.example/images/%d-%d.webp", n, i), status: 200, answerType: "image/webp", answer: w.noise(9_000), binary: true})
	}
	list := w.products(40)
	w.entry(exchanged{kind: "xhr", method: "GET", url: fmt.Sprintf("https://shop.example/api/products?category=%s&page=%d", categories[n%len(categories)], n), status: 200, answerType: "application/json", answer: `{"products":[` + strings.Join(list, ",") + `],"total":2400}`})
	id := productID(list[w.random.IntN(len(list))])
	w.entry(exchanged{kind: "fetch", method: "GET", url: "https://shop.example/api/products/" + id, status: 200, answerType: "application/json", answer: `{"product":{"id":"` + id + `","text":"` + w.words(2_500, "  ") + `"},"similar":[` + strings.Join(w.products(12), ",") + `]}`})
	line := fmt.Sprintf("line-%08x", w.random.Uint32())
	w.entry(exchanged{kind: "fetch", method: "POST", url: "https://shop.example/api/cart/items", post: `{"product_id":"` + id + `","quantity":1}`, status: 201, answerType: "application/json", answer: `{"line":{"id":"` + line + `","product_id":"` + id + `","quantity":1}}`})
	w.entry(exchanged{kind: "fetch", method: "PATCH", url: "https://shop.example/api/cart/items/" + line, post: `{"quantity":2}`, status: 200, answerType: "application/json", answer: `{"line":{"id":"` + line + `","product_id":"` + id + `","quantity":2}}`})
	w.entry(exchanged{kind: "document", method: "GET", url: fmt.Sprintf("https://shop.example/pages/%d", n), status: 200, answerType: "text/html; charset=utf-8", answer: w.html(n)})
}

var categories = []string{"dairy", "fruit", "bakery", "garden", "books"}

func (w *harWriter) products(n int) (all []string) {
	for range n {
		all = append(all, fmt.Sprintf(`{"id":"p-%08x","name":"%s","price":%d.%02d,"category":"%s","stock":%d,"sku":"%012x"}`,
			w.random.Uint32(), strings.TrimSpace(w.words(24, " ")), w.random.IntN(90), w.random.IntN(100), categories[w.random.IntN(len(categories))], w.random.IntN(500), w.random.Uint64()>>16))
	}
	return all
}

func productID(product string) string {
	_, rest, _ := strings.Cut(product, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func (w *harWriter) html(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html><html><head><title>Page %d</title><meta name="csrf-token" content="%016x"></head><body>`, n, w.random.Uint64())
	for range 40 {
		fmt.Fprintf(&b, `<div class="card"><a href="/products/p-%08x">%s</a></div>`, w.random.Uint32(), w.words(120, " "))
	}
	return b.String() + "</body></html>"
}

// words returns about so many bytes of words with marks between them.
func (w *harWriter) words(size int, marks string) string {
	b := make([]byte, 0, size+12)
	for len(b) < size {
		for range 3 + w.random.IntN(7) {
			b = append(b, byte('a'+w.random.IntN(26)))
		}
		b = append(b, marks[w.random.IntN(len(marks))])
	}
	return string(b)
}

func (w *harWriter) noise(size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(w.random.UintN(256))
	}
	return string(b)
}
