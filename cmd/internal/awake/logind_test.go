//go:build linux

package awake

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// systemBus is a bus with a login manager that answers one call.
type systemBus struct {
	t       *testing.T
	refusal string // the name of an error; "" grants the lock
	mute    bool   // never answers
	asked   chan []any
	lock    chan *os.File // the other end of the granted lock
}

// start serves one client and registers itself as the system's bus.
func (b *systemBus) start() {
	b.t.Helper()
	b.asked, b.lock = make(chan []any, 1), make(chan *os.File, 1)
	path := filepath.Join(b.t.TempDir(), "bus")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		b.t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		if b.mute {
			_, _ = io.Copy(io.Discard, c)
			return
		}
		in := bufio.NewReader(c)
		if b.greet(c, in) {
			b.answer(c, in)
		}
	}()
	b.t.Cleanup(func() {
		_ = listener.Close()
		<-gone
	})
	b.t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+path)
}

// greet does the server's side of the authentication (D-Bus specification, "Authentication Protocol").
func (b *systemBus) greet(c net.Conn, in *bufio.Reader) bool {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		answer := "ERROR"
		switch words := strings.Fields(strings.TrimLeft(line, "\x00")); {
		case slices.Contains(words, "BEGIN"):
			return true
		case len(words) == 1 && words[0] == "AUTH":
			answer = "REJECTED EXTERNAL"
		case len(words) > 1 && words[0] == "AUTH":
			answer = "OK 0123456789abcdef0123456789abcdef"
		case len(words) > 0 && words[0] == "NEGOTIATE_UNIX_FD":
			answer = "AGREE_UNIX_FD"
		}
		if _, err := io.WriteString(c, answer+"\r\n"); err != nil {
			return false
		}
	}
}

// answer acts as the bus and the login manager.
func (b *systemBus) answer(c *net.UnixConn, in *bufio.Reader) {
	for {
		m, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(m.Serial())}}
		var rights []byte
		var ours, theirs *os.File
		switch member, _ := m.Headers[dbus.FieldMember].Value().(string); {
		case member == "Hello":
			reply.Body = []any{":1.1"}
		case member != "Inhibit":
			continue
		case b.refusal != "":
			reply.Type = dbus.TypeError
			reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant(b.refusal)
			reply.Body = []any{"no"}
		default:
			if ours, theirs, err = os.Pipe(); err != nil {
				b.t.Error(err)
				return
			}
			rights = syscall.UnixRights(int(theirs.Fd()))
			reply.Body = []any{dbus.UnixFDIndex(0)}
			reply.Headers[dbus.FieldUnixFDs] = dbus.MakeVariant(uint32(1))
		}
		reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(reply.Body...))
		var text strings.Builder
		if err := reply.EncodeTo(&text, binary.LittleEndian); err != nil {
			b.t.Error(err)
			return
		}
		if _, _, err := c.WriteMsgUnix([]byte(text.String()), rights, nil); err != nil {
			return
		}
		if ours != nil {
			_ = theirs.Close() // the client has a copy
			b.lock <- ours
			b.asked <- m.Body
		}
	}
}

func TestLockOfTheLoginManager(t *testing.T) {
	b := &systemBus{t: t}
	b.start()
	release, how, err := Hold("372 shoppers")
	if err != nil || how == "" {
		t.Fatalf("%q, %v", how, err)
	}
	if got := <-b.asked; !slices.Equal(got, []any{"idle:sleep", "Throng", "372 shoppers", "block"}) {
		t.Errorf("requested %q", got)
	}
	lock := <-b.lock
	defer func() { _ = lock.Close() }()
	if err := lock.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the lock is not held: %v", err)
	}
	release()
	release()
	if err := lock.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the lock is not released: %v", err)
	}
}

func TestNoLoginManager(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	if _, _, err := Hold("nothing"); !errors.Is(err, ErrNone) {
		t.Errorf("without a bus: %v", err)
	}
	for name, none := range map[string]bool{
		"org.freedesktop.DBus.Error.ServiceUnknown":                   true,
		"org.freedesktop.DBus.Error.InteractiveAuthorizationRequired": false,
	} {
		b := &systemBus{t: t, refusal: name}
		b.start()
		if _, _, err := Hold("nothing"); err == nil || errors.Is(err, ErrNone) != none {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBusThatIsMute(t *testing.T) {
	b := &systemBus{t: t, mute: true}
	b.start()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := inhibit(ctx, "nothing"); err == nil {
		t.Error("got a lock from a bus that does not answer")
	}
}
