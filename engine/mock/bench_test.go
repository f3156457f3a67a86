package mock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkJourney measures a shopper's journey over loopback HTTP, with the log on disk: session, search, add, coupons, apply, order.
func BenchmarkJourney(b *testing.B) {
	s := visit(b, Config{Seed: 1, Log: filepath.Join(b.TempDir(), "shop.log")}).shop
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	call := func(user, method, path, body string, into any) {
		request, err := http.NewRequestWithContext(b.Context(), method, s.URL()+path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+s.Secret()+"."+user)
		request.Header.Set("X-Simulation-Mode", "true")
		response, err := client.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode > 299 {
			b.Fatalf("%s %s: %v %s %v", method, path, response.Status, answer, err)
		}
		if into != nil {
			if err := json.Unmarshal(answer, into); err != nil {
				b.Fatal(err)
			}
		}
	}
	n := 0
	for b.Loop() {
		user := fmt.Sprint("user-", n)
		n++
		var found, coupons struct {
			Products []struct{ ID string }
			Eligible []struct{ ID string }
		}
		call(user, "POST", "/api/shopping/session", `{}`, nil)
		call(user, "GET", "/api/products/search?query=Dairy&limit=5", "", &found)
		call(user, "POST", "/api/cart/items", `{"product_id":"`+found.Products[0].ID+`","quantity":2}`, nil)
		call(user, "GET", "/api/coupons/eligible", "", &coupons)
		for _, coupon := range coupons.Eligible {
			call(user, "POST", "/api/cart/coupons", `{"coupon_id":"`+coupon.ID+`"}`, nil)
		}
		call(user, "POST", "/api/orders", "", nil)
	}
	b.ReportMetric(float64(s.Stats().Requests)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkServer measures requests a second over loopback with cheap clients: 8 connections that each write prepared bytes and read the
// answer.
func BenchmarkServer(b *testing.B) {
	for _, bench := range []struct{ name, method, path string }{
		{"search", "GET", "/api/products/search?query=Dairy&limit=5"},
		{"add", "POST", "/api/cart/items"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := visit(b, Config{Seed: 1, Log: filepath.Join(b.TempDir(), "shop.log")}).shop
			const clients = 8
			errs := make(chan error, clients)
			var wg sync.WaitGroup
			b.ResetTimer()
			for c := range clients {
				wg.Go(func() {
					errs <- func() error {
						conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://"))
						if err != nil {
							return err
						}
						defer func() { _ = conn.Close() }()
						answers := bufio.NewReader(conn)
						for i := range b.N/clients + 1 {
							body := ""
							if bench.method == "POST" {
								body = s.productJSON(3, 1)
							}
							_, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer %s.%d-%d\r\n"+
								"X-Simulation-Mode: true\r\nContent-Length: %d\r\n\r\n%s",
								bench.method, bench.path, s.Secret(), c, i/50, len(body), body)
							if err != nil {
								return err
							}
							if err := readAnswer(answers); err != nil {
								return err
							}
						}
						return nil
					}()
				})
			}
			wg.Wait()
			for range clients {
				if err := <-errs; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// readAnswer reads one answer of status 200.
func readAnswer(r *bufio.Reader) error {
	size := 0
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.Contains(line, []byte(" 200 ")):
			return fmt.Errorf("answered %s", line)
		case len(line) == 2:
			_, err := r.Discard(size)
			return err
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
}

// BenchmarkReplay measures replaying a log, per record.
func BenchmarkReplay(b *testing.B) {
	log := appendSettings(nil, 1)
	const users = 10_000
	for i := range b.N {
		c := change{op: opAdd, user: fmt.Sprint("user-", i%users), era: era{cycle: i / users / 4, tagged: true, at: int64(i)}}
		c.keyed, c.key, c.line = true, hashKey(fmt.Sprint(i)), line{int32(i / users % productCount), 1}
		if i/users%4 == 3 {
			c.op = opOrder
		}
		log = appendFrame(log, c.append)
	}
	s := build(Config{Seed: 1}, time.Now)
	b.ResetTimer()
	if _, err := scan(bytes.NewReader(log), int64(len(log)), s.redo); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(log))/float64(b.N), "B/record")
}

// BenchmarkUserMemory measures the memory of a user: only seen, and after a journey.
func BenchmarkUserMemory(b *testing.B) {
	for name, journey := range map[string][]op{
		"seen":    nil,
		"journey": {opSession, opAdd, opAdd, opAdd, opCoupon, opOrder},
	} {
		b.Run(name, func(b *testing.B) {
			s := build(Config{Seed: 1}, time.Now)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for n := range b.N {
				u := s.users.of(fmt.Sprint("user-", n))
				for i, o := range journey {
					c := change{op: o, user: u.id, keyed: true, key: hashKey(fmt.Sprint(i)), era: era{cycle: 1, tagged: true}}
					if c.line = (line{int32(i * 7), 1}); o == opSession {
						c.claims, c.session, c.store = true, u.nextSession(), noStore
					}
					s.redo(c)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(b.N), "B/user")
			runtime.KeepAlive(s)
		})
	}
}

// sink is a response writer that discards the body.
type sink struct {
	header http.Header
	status int
}

func (w *sink) Header() http.Header         { return w.header }
func (w *sink) WriteHeader(status int)      { w.status = status }
func (w *sink) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkHandler measures the shop itself, without net/http and sockets.
func BenchmarkHandler(b *testing.B) {
	for _, bench := range []struct {
		name, method, path string
	}{
		{"search", "GET", "/api/products/search?query=Dairy&limit=5"},
		{"add", "POST", "/api/cart/items"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			s := visit(b, Config{Seed: 1, Log: filepath.Join(b.TempDir(), "shop.log")}).shop
			body := []byte(s.productJSON(3, 1))
			r := httptest.NewRequestWithContext(b.Context(), bench.method, bench.path, http.NoBody)
			r.Header.Set("X-Simulation-Mode", "true")
			w := &sink{header: http.Header{}}
			n := 0
			for b.Loop() {
				r.Header.Set("Authorization", fmt.Sprint("Bearer ", s.Secret(), ".", bench.name, n/50))
				r.Header.Set("Idempotency-Key", fmt.Sprint(n))
				n++
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				if s.serve(w, r); w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkModel measures answers a second without the network: prose, a document, a vector.
func BenchmarkModel(b *testing.B) {
	const schema = `{"type":"object","required":["shop","reason"],"properties":{"shop":{"type":"boolean"},"reason":{"type":"string"}}}`
	for _, bench := range []struct{ name, path, body string }{
		{"prose", chatPath, hello(``)},
		{"stream", chatPath, hello(`,"stream":true`)},
		{"schema", chatPath, hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + schema + `}}`)},
		{"embedding", embedPath, `{"model":"mock-1","input":"What do you think of gardens in winter?"}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			m := indoorModel(ModelConfig{}, nil)
			b.ReportAllocs()
			for b.Loop() {
				if g := m.post(bench.path, bench.body); g.status != 200 {
					b.Fatalf("%d %s", g.status, g.body)
				}
			}
		})
	}
}
