package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
)

var eventStream = map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}

// streamed returns a response with these events, available immediately.
func streamed(events ...string) reply {
	return reply{status: 200, header: eventStream, body: strings.Join(lines(events), "")}
}

func lines(events []string) []string {
	var all []string
	for _, e := range events {
		all = append(all, "data: "+e+"\n\n")
	}
	return all
}

// said returns a piece of a completion.
func said(text string) string { return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, text) }

const (
	stopped    = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	usageEvent = `{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}`
)

// TestStreams checks the outcome of streams.
func TestStreams(t *testing.T) {
	tests := []struct {
		name   string
		json   bool
		events []string
		want   string // "" for a bad answer
		usage  int64  // tokens reported
	}{
		{"whole", false, []string{said("Hel"), said("lo."), stopped, usageEvent, "[DONE]"}, "Hello.", 15},
		{"without an end", false, []string{said("Hel"), said("lo."), stopped}, "Hello.", 0},
		{"without a reason", false, []string{said("Hello."), "[DONE]"}, "Hello.", 0},
		{"nothing", false, nil, "", 0},
		{"breaks off", false, []string{said("Hel"), said("lo.")}, "", 0},
		{"breaks off, and the document too", true, []string{said(`{"a":`), said("{}")}, "", 0},
		{"breaks off behind the document", true, []string{said(`{"a":`), said("1}")}, `{"a":1}`, 0},
		{"continues after the object", true, []string{said(`{"a":1}`), said(" "), said(" I hope"), said(" this helps"), usageEvent, "[DONE]"}, `{"a":1} `, 0},
		{"says what it took behind the document", true, []string{said(`{"a":1}`), stopped, usageEvent, "[DONE]"}, `{"a":1}`, 15},
		{"braces in texts", true, []string{said(`{"a":"}`), said(`\"}`), said(`{","b":`), said(`{}}`)}, `{"a":"}\"}{","b":{}}`, 0},
		{"braces before it", true, []string{said("In {short}: "), said(`{"a":1}`), stopped}, `In {short}: {"a":1}`, 0},
		{
			"thinks aloud first", true,
			[]string{said("\n<thi"), said(`nk>{"a":0}`), said(` or </th`), said(`ink>{"a":`), said(`1}`), said(" Bye")},
			"\n<think>{\"a\":0} or </think>{\"a\":1}", 0,
		},
		{"half of an event", false, []string{said("Hel"), `{"choices":[{"del`}, "", 0},
		{"an error in between", false, []string{said("Hel"), `{"error":{"message":"gone","code":502},"choices":[{"delta":{},"finish_reason":"error"}]}`, "[DONE]"}, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := hello()
			c.Stream, c.Format.JSON = true, tt.json
			row, got := stage{}.chat(t, models(t, &script{answers: []reply{streamed(tt.events...)}}, LLMConfig{}), c, func(c *Call) { c.Retry.Attempts = 1 })
			switch {
			case tt.want == "" && (got != nil || row.Class != engine.BadAnswer && row.Class != engine.ServerError):
				t.Errorf("got %+v, class %q", got, row.Class)
			case tt.want != "" && (got == nil || got.Text != tt.want):
				t.Errorf("got %+v, %s; want %s", got, row.Error, tt.want)
			case tt.want != "":
				if u := row.Steps[0].Usage; tt.usage > 0 && u.Input+u.Output != tt.usage || (tt.usage == 0) != (u.Estimated == 1) {
					t.Errorf("usage %+v", u)
				}
			}
		})
	}
}

// TestStreamIsRefusedOrNotOne uses services that refuse the request or do not answer with a stream.
func TestStreamIsRefusedOrNotOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hello()
		c.Stream = true
		fake := &script{answers: []reply{{status: 429, header: map[string]string{"Retry-After": "2"}}, {status: 500}, wrote("Hello.")}}
		row, got := stage{}.chat(t, models(t, fake, LLMConfig{}), c, nil)
		if got == nil || got.Text != "Hello." || !slices.Equal(row.Steps[0].Statuses, []int{429, 500, 200}) || fake.waits()[0] < 2*time.Second {
			t.Errorf("%+v, %v, waits %v: %s", got, row.Steps[0].Statuses, fake.waits(), row.Error)
		}
	})
}

// TestAttemptsOfAStreamAreApart breaks a stream off in the middle of a text, and checks that the next attempt starts
// over.
func TestAttemptsOfAStreamAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hello()
		c.Stream, c.Format.JSON = true, true
		fake := &script{answers: []reply{
			streamed(said(`{"a":"}`)), streamed(`{"choices":[`), streamed(said(`{"b":"{}`), said(`}","c":{}`), said("}"), said("!"), "[DONE]"),
		}}
		_, got := stage{}.chat(t, models(t, fake, LLMConfig{}), c, nil)
		if got == nil || got.Text != `{"b":"{}}","c":{}}` {
			t.Errorf("got %+v", got)
		}
	})
}

// piecewise answers with a stream whose events are delayed; then it ends, or hangs.
type piecewise struct {
	pieces []string
	pause  time.Duration
	hangs  bool
	read   atomic.Int64
	closed atomic.Int64
}

func (p *piecewise) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{}
	for name, value := range eventStream {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: 200, Header: h, ContentLength: -1, Body: &flow{of: p, ctx: r.Context(), shut: make(chan struct{})}, Request: r}, nil
}

type flow struct {
	of   *piecewise
	ctx  context.Context
	at   int
	shut chan struct{}
	once atomic.Bool
}

func (f *flow) Read(into []byte) (int, error) {
	var after <-chan time.Time
	if f.at < len(f.of.pieces) || !f.of.hangs {
		after = time.After(f.of.pause)
	}
	select {
	case <-f.ctx.Done():
		return 0, f.ctx.Err()
	case <-f.shut:
		return 0, io.ErrClosedPipe
	case <-after:
	}
	if f.at == len(f.of.pieces) {
		return 0, io.EOF
	}
	n := copy(into, f.of.pieces[f.at])
	f.at++
	f.of.read.Add(1)
	return n, nil
}

func (f *flow) Close() error {
	if f.once.CompareAndSwap(false, true) {
		f.of.closed.Add(1)
		close(f.shut)
	}
	return nil
}

// TestSilenceOfAStream checks that the timeout limits the silence between events, not the whole.
func TestSilenceOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hello()
		c.Stream = true
		slow := &piecewise{pieces: lines([]string{said("a"), said("b"), said("c"), said("d"), stopped, "[DONE]"}), pause: 40 * time.Second}
		row, got := stage{}.chat(t, models(t, slow, LLMConfig{}), c, func(c *Call) { c.Retry.Attempts = 1 })
		if got == nil || got.Text != "abcd" || row.Steps[0].Service < 4*time.Minute {
			t.Errorf("%+v after %v: %s", got, row.Steps[0].Service, row.Error)
		}
		for name, silent := range map[string]*piecewise{
			"from the start": {hangs: true},
			"in the middle":  {pieces: lines([]string{said("a")}), hangs: true},
			"too long":       {pieces: lines([]string{said("a"), "[DONE]"}), pause: 61 * time.Second},
		} {
			row, got := stage{}.chat(t, models(t, silent, LLMConfig{}), c, func(c *Call) { c.Retry.Attempts = 1 })
			if got != nil || row.Class != engine.Timeout || silent.closed.Load() != 1 {
				t.Errorf("%s: %+v, class %q, closed %d times", name, got, row.Class, silent.closed.Load())
			}
		}
	})
}

// TestStreamEndsEarly checks that nothing is read or awaited after a complete answer.
func TestStreamEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hello()
		c.Stream, c.Format.JSON = true, true
		endless := &piecewise{pieces: lines([]string{said(`{"a":1}`), said("!"), said("!"), said("!")}), pause: time.Second, hangs: true}
		row, got := stage{}.chat(t, models(t, endless, LLMConfig{}), c, nil)
		if got == nil || got.Text != `{"a":1}` || endless.read.Load() != 2 || endless.closed.Load() != 1 || row.Total > 3*time.Second {
			t.Errorf("%+v after %d pieces and %v, closed %d times", got, endless.read.Load(), row.Total, endless.closed.Load())
		}
	})
}

// TestEndlessStreams checks that an endless line and an endless number of lines are limited.
func TestEndlessStreams(t *testing.T) {
	for name, body := range map[string]string{
		"one line": "data: " + strings.Repeat("x", maxBody+10), "many": strings.Repeat(": nothing yet\n", maxBody/14+10),
	} {
		c := hello()
		c.Stream = true
		row, _ := stage{}.chat(t, models(t, &script{answers: []reply{{status: 200, header: eventStream, body: body}}}, LLMConfig{}), c, nil)
		if row.Class != engine.BadAnswer || !strings.Contains(row.Error, "too big") || row.Steps[0].Attempts != 1 {
			t.Errorf("%s: class %q after %d attempts: %s", name, row.Class, row.Steps[0].Attempts, row.Error)
		}
	}
}

// TestStreamsOnTheWire uses streams of a real server: cut ones are requested again, and complete ones share a connection.
func TestStreamsOnTheWire(t *testing.T) {
	var n atomic.Int64
	var connections sync.Map
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		flush := http.NewResponseController(w).Flush
		for i, event := range lines([]string{said("Hel"), said("lo."), stopped, usageEvent, "[DONE]"}) {
			if i == 2 && n.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, event)
			_ = flush()
		}
		end := time.NewTimer(time.Millisecond) // the end of the answer comes after its last event
		defer end.Stop()
		<-end.C
	})
	l, err := NewLLM(LLMConfig{Name: "model", Base: server + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range 5 {
		c := hello()
		c.Stream = true
		row, got := stage{}.chat(t, l, c, func(c *Call) { c.Retry.Wait = 0 })
		want := 1
		if i == 0 {
			want = 2
		}
		if got == nil || got.Text != "Hello." || row.Steps[0].Attempts != want {
			t.Fatalf("%+v after %d attempts: %s", got, row.Steps[0].Attempts, row.Error)
		}
	}
	used := 0
	connections.Range(func(any, any) bool { used++; return true })
	if used > 4 { // of 6 requests, one was cut; on a slow machine the end of an answer may come too late
		t.Errorf("%d connections, want the one that was cut and one that was used again", used)
	}
}

// TestStreamInAnyPieces cuts a completion into random pieces, and checks that its text stays the same and the end of
// its object is found.
func TestStreamInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"{", "}", `"`, `\`, "a", ":", "1", " ", `{"a":1}`, `{"b":{"c":"}"}}`, "{}", "é", "\n"})).Draw(t, "text"), "")
		var events []string
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			events = append(events, `{"choices":[{"delta":{"content":`+quoted(string(rest[:n]))+`}}]}`)
			rest = rest[n:]
		}
		got, err := llm.ReadStream(openai.API{}.Stream(false), []byte(strings.Join(lines(append(events, stopped, "[DONE]")), "")))
		if err != nil || got.Text != text {
			t.Fatalf("%q became %q: %v", text, got.Text, err)
		}
		got, err = llm.ReadStream(openai.API{}.Stream(true), []byte(strings.Join(lines(append(events, stopped, "[DONE]")), "")))
		if err != nil || !strings.HasPrefix(text, got.Text) {
			t.Fatalf("%q became %q: %v", text, got.Text, err)
		}
		if got.Text != text && !strings.Contains(got.Text, "}") {
			t.Fatalf("%q ended early as %q", text, got.Text)
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("data: "+said("x")+"\n\ndata: [DONE]\n"), true)
	f.Add([]byte("data: {\"error\":{\"code\":429}}\n"), false)
	f.Fuzz(func(t *testing.T, body []byte, wholeJSON bool) {
		got, err := llm.ReadStream(openai.API{}.Stream(wholeJSON), body)
		if (got == nil) == (err == nil) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func FuzzCompletion(f *testing.F) {
	f.Add([]byte(wrote("x").body))
	f.Add([]byte(`{"error":{"message":"m","code":"c"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := openai.API{}.Read(body)
		if (got == nil) == (err == nil) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}
