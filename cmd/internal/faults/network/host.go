//go:build linux

package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Host is a network namespace with a loopback interface and an address on the switch. Its methods are safe for concurrent use.
type Host struct {
	network *Network
	address netip.Addr
	queue   *queue
	working sync.WaitGroup
	end     chan struct{}
	calls   chan func() // run by the thread that made the namespace

	space  *os.File // the namespace
	device *os.File // the switch's side of the host's interface

	// Protected by the network's mutex.
	delay, jitter time.Duration
	loss          float64
	cut           [2]bool // by direction

	mu       sync.Mutex
	commands []*exec.Cmd
}

func newHost(n *Network, address netip.Addr) *Host {
	return &Host{network: n, address: address, queue: newQueue(), end: make(chan struct{}), calls: make(chan func())}
}

// Addr returns the IPv4 address of the host.
func (h *Host) Addr() netip.Addr { return h.address }

// open makes the namespace and its interfaces. A thread stays in the namespace to start commands there: they are killed when it
// ends, which is at the end of this process at the latest.
func (h *Host) open() error {
	opened := make(chan error)
	h.working.Go(func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		before, err := os.Open(space)
		if err != nil {
			opened <- err
			return
		}
		defer func() {
			_ = unix.Setns(int(before.Fd()), unix.CLONE_NEWNET) // or the namespace stays until the thread has ended
			_ = before.Close()
		}()
		opened <- h.enter()
		for {
			select {
			case call := <-h.calls:
				call()
			case <-h.end:
				return
			}
		}
	})
	return <-opened
}

// enter moves this thread to a new namespace, and makes the interfaces there.
func (h *Host) enter() (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	if h.space, err = os.Open(space); err != nil {
		return err
	}
	if h.device, err = openDevice(); err != nil {
		return err
	}
	if err := up("lo", netip.Addr{}); err != nil {
		return err
	}
	return up(deviceName, h.address)
}

// The network namespace of the calling thread.
const space = "/proc/thread-self/ns/net"

const deviceName = "throng0"

// openDevice makes a TUN interface in the namespace of this thread. The file reads and writes its packets.
func openDevice() (*os.File, error) {
	const path = "/dev/net/tun"
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	request, err := unix.NewIfreq(deviceName)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a TUN interface: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), path), nil // it is pollable only after TUNSETIFF
}

// up sets the address of an interface, if it is valid, with a route to all hosts, and switches the interface on.
func up(name string, address netip.Addr) (err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	set := func(what uint, value func(r *unix.Ifreq) error) {
		if err != nil {
			return
		}
		request, failed := unix.NewIfreq(name)
		if failed == nil {
			failed = value(request)
		}
		if failed == nil {
			failed = unix.IoctlIfreq(fd, what, request)
		}
		if failed != nil {
			err = fmt.Errorf("set up the interface %s: %w", name, failed)
		}
	}
	if address.IsValid() {
		set(unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(address.AsSlice()) })
		set(unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 255, 0}) })
	}
	set(unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error {
		r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		return nil
	})
	return err
}

// deliver writes the packets for the host when they are due.
func (h *Host) deliver() {
	for {
		text := h.queue.next(h.end)
		if text == nil {
			return
		}
		h.network.delivered.Add(1) // before the host can see it
		if _, err := h.device.Write(text); err != nil && errors.Is(err, os.ErrClosed) {
			return
		}
	}
}

// Do calls a function on a thread in the namespace of the host. Sockets that it makes belong to the host, also afterwards; those
// that its goroutines make do not.
func (h *Host) Do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := func() error {
			before, err := os.Open(space)
			if err != nil {
				return err
			}
			defer func() { _ = before.Close() }()
			if err := unix.Setns(int(h.space.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter the namespace of %s: %w", h, err)
			}
			err = f()
			if back := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); back == nil {
				runtime.UnlockOSThread()
			} // else the thread ends with the goroutine
			return err
		}()
		done <- err
	}()
	return <-done
}

// Listen listens on a TCP port of the host; 0 is a free one.
func (h *Host) Listen(port uint16) (l net.Listener, err error) {
	err = h.Do(func() error {
		l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp4", netip.AddrPortFrom(h.address, port).String())
		return err
	})
	return l, err
}

// ListenPacket listens on a UDP port of the host; 0 is a free one.
func (h *Host) ListenPacket(port uint16) (c net.PacketConn, err error) {
	err = h.Do(func() error {
		c, err = (&net.ListenConfig{}).ListenPacket(context.Background(), "udp4", netip.AddrPortFrom(h.address, port).String())
		return err
	})
	return c, err
}

// DialContext connects from the host to an IP address and port. It has the form of net.Dialer.DialContext.
func (h *Host) DialContext(ctx context.Context, network, address string) (c net.Conn, err error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, err
	}
	err = h.Do(func() error {
		c, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Start starts a command on the host. The caller waits for it, as after Cmd.Start. The command is killed at the end of the test.
func (h *Host) Start(c *exec.Cmd) error {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL // when the thread ends
	started := make(chan error, 1)
	call := func() { started <- c.Start() }
	select {
	case h.calls <- call:
	case <-h.end:
		return fmt.Errorf("start %s: the network is closed", c.Path)
	}
	if err := <-started; err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commands = append(h.commands, c)
	return nil
}

// close kills the commands of the host and removes it.
func (h *Host) close() error {
	h.mu.Lock()
	for _, c := range h.commands {
		_ = c.Process.Kill() // it may have ended
	}
	h.mu.Unlock()
	close(h.end)
	var errs []error
	for _, f := range []*os.File{h.device, h.space} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	h.working.Wait()
	return errors.Join(errs...)
}
