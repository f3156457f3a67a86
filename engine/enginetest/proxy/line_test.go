package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// echo is a server that returns what it receives.
func echo(t *testing.T) (address string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			working.Go(func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		working.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, l *Line) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// say sends a text and returns the response and the final error. The timeout is short if no answer is expected.
func say(t *testing.T, c net.Conn, text string, silence bool) (heard string, err error) {
	t.Helper()
	patience := 2 * time.Minute
	if silence {
		patience = 200 * time.Millisecond
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	buffer := make([]byte, len(text))
	n, err := io.ReadFull(c, buffer)
	return string(buffer[:n]), err
}

func silent(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// TestTroubles checks each trouble on an open connection, and that new connections work after it.
func TestTroubles(t *testing.T) {
	text := strings.Repeat("-", 100) + "COMMIT" + strings.Repeat("-", 100)
	for _, tt := range []struct {
		name    string
		begin   func(l *Line)
		heard   int // received bytes of the text
		ends    func(error) bool
		refused bool // new connections are refused
	}{
		{"in order", func(*Line) {}, len(text), func(err error) bool { return err == nil }, false},
		{"silence", (*Line).Silence, 0, silent, false},
		{"held to the server", func(l *Line) { l.Be(Trouble{Hold: [2]bool{ToServer: true}}) }, 0, silent, false},
		{"held to the client", func(l *Line) { l.Be(Trouble{Hold: [2]bool{ToClient: true}}) }, 0, silent, false},
		{"cut", (*Line).Cut, 0, broken, false},
		{"reset", (*Line).Reset, 0, broken, false},
		{"abandoned", (*Line).Abandon, 0, silent, false},
		{"reset after 7 bytes", func(l *Line) { l.Be(Trouble{ResetAfter: [2]int64{ToServer: 7}}) }, -1, broken, false},
		{"reset at a word", func(l *Line) { l.Be(Trouble{ResetAt: [2]string{ToClient: "COMMIT"}}) }, -1, broken, false},
		{"slow", func(l *Line) { l.Be(Trouble{Rate: 100}) }, len(text), func(err error) bool { return err == nil }, false},
		{"late", func(l *Line) { l.Be(Trouble{Latency: time.Minute}) }, 0, silent, false},
		{"early", func(l *Line) { l.Be(Trouble{Jitter: time.Millisecond}) }, len(text), func(err error) bool { return err == nil }, false},
		{"lost", func(l *Line) { l.Be(Trouble{Loss: 1, Stall: time.Minute}) }, 0, silent, false},
		{"refused", func(l *Line) { l.Refuse(); l.Cut() }, 0, broken, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := NewLine(t, echo(t))
			c := dial(t, l)
			if heard, err := say(t, c, "hello", false); heard != "hello" || err != nil {
				t.Fatalf("got %q, %v", heard, err)
			}
			tt.begin(l)
			heard, err := say(t, c, text, tt.ends(os.ErrDeadlineExceeded))
			if tt.heard >= 0 && len(heard) != tt.heard || !tt.ends(err) || strings.Contains(heard, "COMMIT") && tt.heard != len(text) {
				t.Errorf("received %d bytes, %v", len(heard), err)
			}
			if other, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.Addr().String()); (err != nil) != tt.refused {
				t.Errorf("a new connection: %v", err)
			} else if err == nil {
				_ = other.Close()
			}
			if tt.refused {
				l.Listen(t)
			}
			l.Be(Trouble{})
			if heard, err := say(t, dial(t, l), text, false); heard != text || err != nil {
				t.Errorf("afterwards received %d bytes, %v", len(heard), err)
			}
			if n := l.Connections(); n < 2 || l.Bytes(ToServer) < int64(len(text)) || l.Bytes(ToClient) < int64(len(text)) {
				t.Errorf("%d connections, %d and %d bytes", n, l.Bytes(ToServer), l.Bytes(ToClient))
			}
		})
	}
}

// TestHeldPasses checks that held bytes pass in order after the end of the trouble.
func TestHeldPasses(t *testing.T) {
	l := NewLine(t, echo(t))
	c := dial(t, l)
	l.Silence()
	if heard, err := say(t, c, "first", true); heard != "" || !silent(err) {
		t.Fatalf("got %q, %v", heard, err)
	}
	l.Be(Trouble{})
	if heard, err := say(t, c, "second", false); heard != "firsts" || err != nil {
		t.Errorf("got %q, %v", heard, err)
	}
}

// TestResetAtExactly checks that all bytes before the text pass, however they are divided into pieces.
func TestResetAtExactly(t *testing.T) {
	p := passage{way: ToClient}
	trouble := Trouble{ResetAt: [2]string{ToClient: "COMMIT"}}
	var passed string
	for _, piece := range []string{"aCOM", "MI", "CO", "MMI", "TCOMMIT"} {
		some, reset := p.upTo([]byte(piece), trouble)
		passed += string(some)
		if reset != (piece == "TCOMMIT") {
			t.Fatalf("reset %t after %q", reset, passed)
		}
	}
	if passed != "aCOMMICOMMI" {
		t.Errorf("%q passed", passed)
	}
	counted := passage{way: ToServer, passed: 5}
	if some, reset := counted.upTo([]byte("hello"), Trouble{ResetAfter: [2]int64{ToServer: 8}}); string(some) != "hel" || !reset {
		t.Errorf("%q passed, reset %t", some, reset)
	}
}

// TestLatency checks that bytes come as late as they should, that pieces do not wait for each other, and that they stay in order.
func TestLatency(t *testing.T) {
	for _, tt := range []struct {
		name        string
		trouble     Trouble
		first, last time.Duration // the earliest time of the first byte, and the latest time of the last one
	}{
		{"none", Trouble{}, 0, 0},
		{"latency", Trouble{Latency: time.Second}, time.Second, time.Second},
		{"jitter", Trouble{Latency: time.Second, Jitter: time.Second}, time.Second, 2 * time.Second},
		{"loss", Trouble{Loss: 0.5, Stall: time.Second}, 0, time.Second},
		{"all lost", Trouble{Latency: time.Second, Loss: 1, Stall: time.Second}, 2 * time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine("")
				client, near := net.Pipe()
				far, server := net.Pipe()
				l.working.Go(func() { l.connect(near, far) })
				l.Be(tt.trouble)
				began := time.Now()
				text := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 4)
				l.working.Go(func() {
					for i := range len(text) { // each byte is a piece: a pipe has no buffer
						if _, err := io.WriteString(client, text[i:i+1]); err != nil {
							t.Error(err)
						}
					}
				})
				received, took := make([]byte, len(text)), make([]time.Duration, len(text))
				for i := range received {
					if _, err := io.ReadFull(server, received[i:i+1]); err != nil {
						t.Fatal(err)
					}
					took[i] = time.Since(began)
				}
				if string(received) != text || took[0] < tt.first || took[len(took)-1] > tt.last || took[len(took)-1] < tt.first {
					t.Errorf("got %q from %v to %v, want %v to %v", received, took[0], took[len(took)-1], tt.first, tt.last)
				}
				if spread := took[0] != took[len(took)-1]; spread != (tt.trouble.Jitter > 0) { // behind a lost piece all others wait
					t.Errorf("bytes came from %v to %v", took[0], took[len(took)-1])
				}
				_ = client.Close()
				l.working.Wait()
			})
		})
	}
}
