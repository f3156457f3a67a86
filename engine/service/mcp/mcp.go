// Package mcp calls the tools of servers of the Model Context Protocol (MCP), which listen at an address: the protocol's streamable
// HTTP transport. The limits, retries and the journal of calls are those of [service.HTTP].
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throng-sim/throng/engine/service"
)

// Service is the client of one server. It keeps sessions with the server, each for one call at a time, so that no call can break others.
type Service struct {
	*service.HTTP

	endpoint string
	client   *sdk.Client
	by       *sdk.StreamableClientTransport

	mu     sync.Mutex
	idle   []session // the newest last
	closed bool
	ending sync.WaitGroup // sessions that are being closed
}

// session is a session with the server, and who signed in to it: servers may tie a session to a user.
type session struct {
	*sdk.ClientSession
	user string
}

// userOf returns who signs in with the headers of a call; "" without a sign-in.
func userOf(ctx context.Context) string {
	h := tripOf(ctx).header
	return h.Get("Authorization") + "\n" + h.Get("Cookie")
}

// Name is how Throng introduces itself to servers.
const Name = "throng"

// Connect returns the client of the server at an address, which it does not contact yet.
func Connect(name, address string, limits service.Limits) (*Service, error) {
	if limits.ResponseSize == 0 {
		limits.ResponseSize = MostResult
	}
	h, err := service.NewHTTP(name, address, limits, false)
	if err != nil {
		return nil, err
	}
	s := &Service{HTTP: h, endpoint: address}
	s.client = sdk.NewClient(&sdk.Implementation{Name: Name, Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	h.Via("mcp", func(pool http.RoundTripper) http.RoundTripper {
		s.by = &sdk.StreamableClientTransport{
			Endpoint: address, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: int(limits.ResponseSize),
			HTTPClient: &http.Client{Transport: &carrier{pool: pool, most: limits.ResponseSize}, CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // a redirect could lead a token elsewhere
			}},
		}
		return s
	})
	return s, nil
}

// MostResult is the default limit for the size of an answer, in bytes.
const MostResult = 1 << 20

// Call is the body of a request to call a tool.
type Call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // an object
}

var _ http.RoundTripper = (*Service)(nil)

// RoundTrip implements [http.RoundTripper] for the requests of [service.HTTP]: a GET lists the tools, a POST with a [Call] calls one. The
// body of the response is a [Listing] or a [Result].
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	var call Call
	if r.Method != http.MethodGet {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &call)
		}
		if err != nil {
			return nil, fmt.Errorf("read the call of a tool: %w", err)
		}
	}
	for again := false; ; again = true {
		t := &trip{header: r.Header, single: r.GetBody == nil}
		answer, reused, err := s.exchange(context.WithValue(r.Context(), tripKey{}, t), &call)
		if err == nil {
			return response(r, http.StatusOK, nil, answer)
		}
		if reused && !again && errors.Is(err, sdk.ErrSessionMissing) { // the server has restarted, and did nothing
			continue
		}
		return t.failed(r, err)
	}
}

// exchange lists the tools, or calls one if the call names it. reused says that the session with the server is an earlier one.
func (s *Service) exchange(ctx context.Context, call *Call) (answer any, reused bool, err error) {
	with, reused, err := s.take(ctx)
	if err != nil {
		return nil, false, err
	}
	if call.Tool == "" {
		answer, err = list(ctx, with.ClientSession)
	} else {
		answer, err = s.call(ctx, with.ClientSession, call)
	}
	if err != nil {
		s.drop(with)
		return nil, reused, err
	}
	s.put(with)
	return answer, reused, nil
}

// call calls a tool. An error of the server about the call is a result.
func (s *Service) call(ctx context.Context, with *sdk.ClientSession, call *Call) (*Result, error) {
	got, err := with.CallTool(ctx, &sdk.CallToolParams{Name: call.Tool, Arguments: call.Arguments})
	if err == nil {
		return resultOf(got), nil
	}
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if t := tripOf(ctx); !ok || t.refused() {
		return nil, err
	}
	return &Result{Text: said.Message, Failed: true}, nil
}

// take returns an idle session of the same user, or connects another one.
func (s *Service) take(ctx context.Context) (with session, reused bool, err error) {
	user := userOf(ctx)
	s.mu.Lock()
	for i := len(s.idle) - 1; i >= 0 && !reused; i-- {
		if s.idle[i].user == user {
			with, reused = s.idle[i], true
			s.idle = slices.Delete(s.idle, i, i+1)
		}
	}
	s.mu.Unlock()
	if reused {
		return with, true, nil
	}
	connected, err := s.client.Connect(ctx, s.by, nil)
	if err != nil {
		return session{}, false, err
	}
	tripOf(ctx).forget() // servers may refuse newer versions of the protocol first
	return session{connected, user}, false, nil
}

// mostIdle is how many sessions are kept for further calls.
const mostIdle = 64

func (s *Service) put(with session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.drop(with)
		return
	}
	if len(s.idle) == mostIdle {
		s.drop(s.idle[0])
		s.idle = slices.Delete(s.idle, 0, 1)
	}
	s.idle = append(s.idle, with)
}

// drop closes a session without waiting for the server.
func (s *Service) drop(with session) {
	s.ending.Go(func() { _ = with.Close() }) // it may be broken already
}

// Close ends the sessions with the server, for at most some seconds, and closes idle connections. No call may be in progress.
func (s *Service) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	for _, with := range idle {
		s.drop(with)
	}
	s.ending.Wait()
	s.HTTP.Close()
}

// response returns an answer as a response. header may be nil.
func response(r *http.Request, status int, header http.Header, answer any) (*http.Response, error) {
	body, ok := answer.([]byte)
	if !ok {
		var err error
		if body, err = json.Marshal(answer); err != nil {
			return nil, fmt.Errorf("keep the answer of an MCP server: %w", err)
		}
		header = http.Header{"Content-Type": {"application/json"}}
	}
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: header,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}
