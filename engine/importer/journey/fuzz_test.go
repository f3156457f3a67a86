package journey_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/importer/journey"
)

// seeds are recordings in which values go from answers to requests in every way.
var seeds = []string{
	`{"log": {"entries": [
{"startedDateTime": "2026-11-20T12:00:00Z", "time": 5, "request": {"method": "POST", "url": "http://a.example/login", "postData": {"mimeType": "application/json", "text": "{\"email\": \"a1@b.example\", \"password\": \"p\"}"}}, "response": {"status": 200, "content": {"mimeType": "application/json", "text": "{\"token\": \"t-99812aa\", \"user\": {\"id\": 7001}}"}}},
{"startedDateTime": "2026-11-20T12:00:05Z", "time": 5, "request": {"method": "GET", "url": "http://a.example/users/7001/orders?x=1&x=2", "headers": [{"name": "Authorization", "value": "Bearer t-99812aa"}]}, "response": {"status": 200, "content": {"text": "[{\"id\": \"o-1234\"}, {\"id\": \"o-1235\", \"in_stock\": true}]"}}},
{"startedDateTime": "2026-11-20T12:00:09Z", "time": 5, "request": {"method": "DELETE", "url": "http://a.example/orders/o-1235"}, "response": {"status": 302, "headers": [{"name": "Location", "value": "/done/9123?r=8x81"}]}},
{"startedDateTime": "2026-11-20T12:00:10Z", "time": 5, "request": {"method": "GET", "url": "http://a.example/done/9123?r=8x81"}, "response": {"status": 200, "content": {"mimeType": "text/html", "text": "<meta name=\"c\" content=\"zz8812kk\"><input name=t value=u8812><script>var k = \"q99128\"</script>"}}},
{"startedDateTime": "2026-11-20T12:00:11Z", "time": 5, "request": {"method": "POST", "url": "http://a.example/x", "headers": [{"name": "X-CSRF", "value": "zz8812kk"}, {"name": "Cookie", "value": "a=b; sid=8123ab"}], "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "t=u8812&k=q99128&%zz=1"}}, "response": {"status": 500}}
]}}`,
	`{"log": {"entries": [{"request": {"url": "http://a/%zz?%=%&{{a}}={{b}}"}}, {"request": {"method": "PUT", "url": "http://a/", "postData": {"mimeType": "multipart/form-data; boundary=x", "text": "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n\r\nc\r\n--x--"}}}]}}`,
}

// FuzzDraft makes drafts of damaged recordings, and writes them.
func FuzzDraft(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), []byte(s))
		f.Add([]byte(s), []byte(strings.NewReplacer("7001", "8002", "o-1235", "o-9999", "p\\\"", "q").Replace(s)))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var all []*exchange.Recording
		for _, text := range [][]byte{first, second} {
			if r, err := exchange.ReadHAR(bytes.NewReader(text)); err == nil {
				all = append(all, r)
			}
		}
		d, err := journey.Draft(all, journey.Options{})
		if err != nil {
			return
		}
		if len(d.Steps) == 0 && len(d.Dropped) == 0 && d.Services[0].Auth.Request == nil {
			t.Error("a draft without steps")
		}
		d.Write()
	})
}

// BenchmarkDraft50MB reads a HAR of 50 MB and makes a draft of it.
func BenchmarkDraft50MB(b *testing.B) {
	for b.Loop() {
		runtime.GC()
		r, err := exchange.ReadHAR(bigHAR(50<<20, 20_000))
		if err != nil {
			b.Fatal(err)
		}
		d, err := journey.Draft([]*exchange.Recording{r}, journey.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MB")
		b.ReportMetric(float64(len(d.Steps)), "steps")
	}
}

// bigHAR yields a HAR of about a size, whose entries have JSON answers of a given size. Every request uses an ID of the answer before.
func bigHAR(size, answer int) io.Reader {
	r, w := io.Pipe()
	go func() {
		written := 0
		fmt.Fprint(w, `{"log": {"creator": {"name": "Firefox"}, "entries": [`)
		for i := 0; written < size; i++ {
			var items strings.Builder
			for j := 0; items.Len() < answer; j++ {
				fmt.Fprintf(&items, `{\"id\": \"p-%d-%d\", \"name\": \"Lamp %d\", \"price\": %d.99},`, i, j, j*7919, j%100)
			}
			comma := ",\n"
			if i == 0 {
				comma = ""
			}
			start := noon.Add(time.Duration(i) * 100 * time.Millisecond).Format(time.RFC3339Nano)
			n, err := fmt.Fprintf(w, `%s{"_resourceType": "xhr", "startedDateTime": "%s", "time": 12, "request": {"method": "GET", "url": "https://shop.example/api/products/p-%d-3", `+
				`"headers": [{"name": "Accept", "value": "application/json"}, {"name": "X-Lang", "value": "en"}]}, "response": {"status": 200, `+
				`"content": {"mimeType": "application/json", "text": "{\"items\": [%s]}"}}}`, comma, start, i-1, strings.TrimSuffix(items.String(), ","))
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

func TestManyRequests(t *testing.T) {
	r, err := exchange.ReadHAR(bigHAR(10_000*500, 100))
	if err != nil {
		t.Fatal(err)
	}
	d, err := journey.Draft([]*exchange.Recording{r, r}, journey.Options{})
	if err != nil || len(d.Steps) < 10_000 {
		t.Fatalf("%v, %d steps", err, len(d.Steps))
	}
}
