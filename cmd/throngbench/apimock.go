package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/mock/wire"
)

const (
	petVisits  = 5_000 // of petRequests
	petClients = 16
)

// petRequests are what a client asks the mock, in this order: it creates, reads, lists and changes.
var petRequests = []struct{ method, path, body string }{
	{http.MethodPost, "/pet", `{"id":7,"name":"Rex","photoUrls":["https://pets.example/rex.jpg"],"tags":[{"id":1,"name":"old"}],"status":"available"}`},
	{http.MethodGet, "/pet/7", ""},
	{http.MethodGet, "/pet/findByStatus?status=available", ""},
	{http.MethodPut, "/pet", `{"id":7,"name":"Rex","photoUrls":["https://pets.example/rex.jpg"],"status":"sold"}`},
}

// apiRow measures the mock of an OpenAPI document against a server that does nothing else than answer.
func apiRow() row {
	const rate, used = "requests/s", "server's µs/request"
	return row{
		name: "23", what: fmt.Sprintf("The mock of an OpenAPI document (the pet store), asked by %d clients", petClients),
		sides: []side{
			{name: "Throng", run: func(ctx context.Context, e env) (figures, error) { return visitPets(ctx, e, "23/mock") }},
			{name: "net/http with the same bytes", run: func(ctx context.Context, e env) (figures, error) { return visitPets(ctx, e, "23/plain") }},
		},
		parts: []side{{name: "mock", run: servePets}, {name: "plain", run: servePlain}},
		shown: []string{rate, used, "client's µs/request"},
		ratios: []ratio{
			{name: "of the requests/s of net/http", of: over(0, rate, 1, rate)},
			{name: "times the server's CPU time of net/http", less: true, of: over(0, used, 1, used)},
		},
		note: "The mock checks requests and answers against the schemas of the document, and keeps what each client creates. Clients and server run on the same cores.",
	}
}

// visitPets has clients ask a server, which is a process of its own.
func visitPets(ctx context.Context, e env, server string) (f figures, err error) {
	p, err := e.startPart(ctx, server)
	if err != nil {
		return nil, err
	}
	url, secret, _ := strings.Cut(p.said, " ")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: petClients}}
	visit := func(agent int) error {
		return visitOnce(ctx, client, url, fmt.Sprintf("%s.agent-%d", secret, agent), nil)
	}
	err = concurrently(petClients, petClients, visit) // what is compiled at the first request
	began, used := time.Now(), ownTime()
	if err == nil {
		err = concurrently(petClients, petVisits, func(i int) error { return visit(i % petClients) })
	}
	took, own := time.Since(began), ownTime()-used
	client.CloseIdleConnections()
	if err := errors.Join(err, p.end()); err != nil {
		return nil, err
	}
	requests := float64(petVisits * len(petRequests))
	return figures{
		"requests/s": requests / took.Seconds(), "server's µs/request": usedMicros(p.cmd) / requests, "client's µs/request": own.Seconds() * 1e6 / requests,
	}, nil
}

// visitOnce sends the requests of a client and passes the answers to keep, which may be nil.
func visitOnce(ctx context.Context, client *http.Client, url, token string, keep func(key string, body []byte)) error {
	for _, of := range petRequests {
		r, err := http.NewRequestWithContext(ctx, of.method, url+of.path, strings.NewReader(of.body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if of.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		text, err := fetch(client, r)
		if err != nil {
			return fmt.Errorf("%s %s: %w", of.method, of.path, err)
		}
		if keep != nil {
			keep(r.Method+" "+r.URL.Path, text)
		}
	}
	return nil
}

// startPets starts the mock of the pet store.
func startPets() (at, secret string, end func() error, err error) {
	document, err := mocks.Document(filepath.Join("engine", "openapi", "testdata", "petstore.yaml"))
	if err != nil {
		return "", "", nil, err
	}
	base := ""
	if len(document.Servers) > 0 {
		base = document.Servers[0]
	}
	s, _, err := mocks.Serve(filepath.Join("engine", "openapi", "testdata", "petstore.yaml"), "", mock.Config{Profile: wire.ProfileNone})
	if err != nil {
		return "", "", nil, err
	}
	return s.URL() + base, s.Secret(), s.Close, nil
}

// servePets is the mock. It says its address and secret.
func servePets(context.Context, env) (figures, error) {
	at, secret, end, err := startPets()
	if err != nil {
		return nil, err
	}
	fmt.Println(at, secret)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return figures{}, end()
}

// servePlain answers with what the mock answered once.
func servePlain(ctx context.Context, _ env) (figures, error) {
	at, secret, end, err := startPets()
	if err != nil {
		return nil, err
	}
	answers := map[string][]byte{}
	_, path, _ := strings.Cut(strings.TrimPrefix(at, "http://"), "/")
	err = visitOnce(ctx, http.DefaultClient, at, secret+".agent", func(key string, body []byte) { answers[key] = bytes.Clone(body) })
	http.DefaultClient.CloseIdleConnections()
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answers[r.Method+" "+r.URL.Path]) // the client may be gone
	})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Println("http://"+listener.Addr().String()+"/"+path, secret)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return nil, err
	}
	return figures{}, nil
}
