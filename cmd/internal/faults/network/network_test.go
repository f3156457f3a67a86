//go:build linux

package network

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience ends a test that hangs.
const patience = time.Minute

// post sends a UDP packet from one connection to another.
func post(t *testing.T, from, to net.PacketConn, text string) {
	t.Helper()
	if _, err := from.WriteTo([]byte(text), to.LocalAddr()); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, c net.PacketConn) (text string) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	n, _, err := c.ReadFrom(buffer)
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

// pair returns a network of two hosts, each with a UDP connection.
func pair(t *testing.T) (n *Network, a, b net.PacketConn) {
	t.Helper()
	n = New(t, 2, 1)
	var all [2]net.PacketConn
	for i := range all {
		c, err := n.Host(i).ListenPacket(0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		all[i] = c
	}
	return n, all[0], all[1]
}

// TestDelay checks the time that packets take there and back. Others may keep this machine busy, so the fastest counts.
func TestDelay(t *testing.T) {
	n, a, b := pair(t)
	fastest := func() time.Duration {
		least := patience
		for range 10 {
			began := time.Now()
			post(t, a, b, "there")
			receive(t, b)
			post(t, b, a, "back")
			receive(t, a)
			least = min(least, time.Since(began))
		}
		return least
	}
	without := fastest()
	n.Host(0).Delay(10*time.Millisecond, 0)
	n.Host(1).Delay(15*time.Millisecond, 0)
	const want = 50 * time.Millisecond
	if got := fastest(); got < want || got > want+without+30*time.Millisecond {
		t.Errorf("there and back took %v, want %v; without delay %v", got, want, without)
	}
	n.Host(0).Delay(0, 0)
	n.Host(1).Delay(0, 0)
	if got := fastest(); got >= want {
		t.Errorf("without delay there and back took %v", got)
	}
}

// TestPartition checks for each direction that nothing passes until the partition is healed.
func TestPartition(t *testing.T) {
	n, a, b := pair(t)
	for _, tt := range []struct {
		name        string
		ways        []Way
		there, back bool // what still passes
	}{
		{"both", nil, false, false},
		{"sends", []Way{Sends}, false, true},
		{"receives", []Way{Receives}, true, false},
	} {
		n.Host(0).Partition(tt.ways...)
		for _, way := range []struct {
			from, to net.PacketConn
			passes   bool
		}{{a, b, tt.there}, {b, a, tt.back}} {
			lost := n.Lost()
			post(t, way.from, way.to, "cut off")
			if way.passes {
				if got := receive(t, way.to); got != "cut off" || n.Lost() != lost {
					t.Errorf("%s: got %q, and %d packets were lost", tt.name, got, n.Lost()-lost)
				}
				continue
			}
			waitForLoss(n, lost)
		}
		n.Host(0).Heal()
		post(t, a, b, "healed")
		if got := receive(t, b); got != "healed" {
			t.Errorf("%s: %q passed", tt.name, got)
		}
		post(t, b, a, "healed")
		if got := receive(t, a); got != "healed" {
			t.Errorf("%s: %q came back", tt.name, got)
		}
	}
}

// waitForLoss waits until more packets are lost.
func waitForLoss(n *Network, lost int64) {
	for deadline := time.Now().Add(patience); n.Lost() == lost && time.Now().Before(deadline); {
		runtime.Gosched()
	}
}

// TestPartitionHoldsConnection checks that a TCP connection survives a partition, and that bytes sent in it arrive afterwards.
func TestPartitionHoldsConnection(t *testing.T) {
	n := New(t, 2, 1)
	l, err := n.Host(1).Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := n.Host(0).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	n.Host(1).Partition()
	lost := n.Lost()
	if _, err := io.WriteString(c, "held"); err != nil {
		t.Fatal(err)
	}
	waitForLoss(n, lost)
	n.Host(1).Heal()
	if err := peer.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4)
	if _, err := io.ReadFull(peer, text); err != nil || string(text) != "held" || n.Lost() == lost {
		t.Errorf("got %q and %v after the partition, which lost %d packets", text, err, n.Lost()-lost)
	}
	for _, one := range []io.Closer{c, peer, l} {
		_ = one.Close()
	}
}

// TestLoss sends a text by TCP over a network that loses packets: it arrives complete.
func TestLoss(t *testing.T) {
	n := New(t, 2, 1)
	n.Host(1).Loss(0.1)
	l, err := n.Host(1).Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Repeat([]byte("0123456789"), 20_000)
	received := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			received <- nil
			return
		}
		text, _ := io.ReadAll(c)
		received <- text
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := n.Host(0).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-received; !bytes.Equal(got, sent) || n.Lost() == 0 {
		t.Errorf("received %d of %d bytes; %d packets were lost, %d delivered", len(got), len(sent), n.Lost(), n.Delivered())
	}
	_ = l.Close()
}

// TestCommand starts a command that only reaches its own host, and ends with the network.
func TestCommand(t *testing.T) {
	var c *exec.Cmd
	t.Run("network", func(t *testing.T) {
		n := New(t, 1, 1)
		c = exec.CommandContext(t.Context(), "sh", "-c", "readlink /proc/self/ns/net; exec sleep 600")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Host(0).Start(c); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 100)
		size, err := out.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		var there string
		if err := n.Host(0).Do(func() (err error) {
			there, err = os.Readlink(space)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		here, err := os.Readlink(space)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(line[:size])); got != there || got == here {
			t.Errorf("the command is in %s, want %s; this test is in %s", got, there, here)
		}
	})
	if c == nil || c.Process == nil {
		t.Skip("no command was started")
	}
	err := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the command ended with %v", err)
	}
}

// TestNothingStays checks that no thread and no file of this process is in a namespace after a test that failed.
func TestNothingStays(t *testing.T) {
	before := spaces(t)
	var inside int
	t.Run("network", func(t *testing.T) {
		New(t, 3, 1)
		inside = len(spaces(t))
		t.SkipNow() // cleans up as a failure does
	})
	if inside == 0 {
		t.Skip("no network was made")
	}
	after := spaces(t)
	if inside != len(before)+3 || len(after) != len(before) {
		t.Errorf("%d namespaces before, %d inside, %d after", len(before), inside, len(after))
	}
}

// spaces returns the network namespaces of the threads and files of this process.
func spaces(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, pattern := range []string{"/proc/self/task/*/ns/net", "/proc/self/fd/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, "net:") {
				all[to] = true
			}
		}
	}
	return all
}

// TestQueue checks that packets leave by due time, and in order where that is equal.
func TestQueue(t *testing.T) {
	q, now := newQueue(), time.Now()
	for _, p := range []struct {
		text  string
		delay time.Duration
	}{{"late", time.Second}, {"first", 0}, {"second", 0}, {"later", 2 * time.Second}} {
		if !q.add([]byte(p.text), now.Add(p.delay)) {
			t.Fatal("the queue is full")
		}
	}
	var got []string
	for at := now; len(got) < 4; {
		wait, text := q.take(at)
		if text == nil {
			at = at.Add(wait)
			got = append(got, wait.String())
			continue
		}
		got = append(got, string(text))
	}
	if want := "first second 1s late"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	for range longest {
		q.add([]byte("more"), now)
	}
	if q.add([]byte("too many"), now) {
		t.Error("the queue has no end")
	}
}
