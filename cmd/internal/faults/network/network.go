//go:build linux

package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Network is a switch with hosts. Its methods are safe for concurrent use.
type Network struct {
	hosts           []*Host
	delivered, lost atomic.Int64

	mu   sync.Mutex // protects the draws, and the conditions of all hosts
	draw *rand.Rand
}

// New returns a network of n hosts, at most 250, which can reach one another without delay or loss. It ends with the test, as do the
// commands on its hosts. The test is skipped if this machine or this user may not make one. Losses and jitter are drawn from the
// seed.
func New(t testing.TB, n int, seed uint64) *Network {
	t.Helper()
	network := &Network{draw: rand.New(rand.NewPCG(seed, 0))}
	t.Cleanup(func() {
		if err := network.close(); err != nil {
			t.Error(err)
		}
	})
	for i := range n {
		h := newHost(network, netip.AddrFrom4([4]byte{10, 77, 0, byte(i + 1)}))
		network.hosts = append(network.hosts, h)
		if err := h.open(); errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
			t.Skipf("no network namespaces here: %v; run the test as root, or under unshare -rn", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range network.hosts {
		h.working.Go(func() { network.forward(h) })
		h.working.Go(h.deliver)
	}
	return network
}

// Host returns a host by its index, from 0.
func (n *Network) Host(i int) *Host { return n.hosts[i] }

// Delivered returns the number of packets that arrived at a host.
func (n *Network) Delivered() int64 { return n.delivered.Load() }

// Lost returns the number of packets that did not arrive: lost by chance, at a partition, or because a queue was full.
func (n *Network) Lost() int64 { return n.lost.Load() }

func (n *Network) close() error {
	var errs []error
	for _, h := range n.hosts {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// forward reads the packets that a host sends, until the host is closed.
func (n *Network) forward(from *Host) {
	buffer := make([]byte, 64<<10)
	for {
		size, err := from.device.Read(buffer)
		if err != nil {
			return
		}
		to := n.to(buffer[:size])
		if to == nil {
			continue // such as a broadcast of IPv6
		}
		delay, passes := n.pass(from, to)
		if !passes || !to.queue.add(append([]byte{}, buffer[:size]...), time.Now().Add(delay)) {
			n.lost.Add(1)
		}
	}
}

// to returns the host that an IPv4 packet is for, or nil.
func (n *Network) to(packet []byte) *Host {
	if len(packet) < 20 || packet[0]>>4 != 4 {
		return nil
	}
	first := binary.BigEndian.Uint32(n.hosts[0].address.AsSlice())
	i := int64(binary.BigEndian.Uint32(packet[16:20])) - int64(first)
	if i < 0 || i >= int64(len(n.hosts)) {
		return nil
	}
	return n.hosts[i]
}

// pass draws whether a packet passes, and its delay.
func (n *Network) pass(from, to *Host) (delay time.Duration, passes bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if from.cut[Sends] || to.cut[Receives] {
		return 0, false
	}
	for _, h := range []*Host{from, to} {
		if h.loss > 0 && n.draw.Float64() < h.loss {
			return 0, false
		}
		delay += h.delay
		if h.jitter > 0 {
			delay += time.Duration(n.draw.Int64N(int64(h.jitter)))
		}
	}
	return delay, true
}

// Way is a direction of a host's packets.
type Way int

// The directions.
const (
	Sends Way = iota
	Receives
)

// Delay delays each packet from and to the host by d, and up to jitter more. A packet between two delayed hosts has both delays.
// With jitter, packets may overtake each other.
func (h *Host) Delay(d, jitter time.Duration) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.delay, h.jitter = d, jitter
}

// Loss loses this fraction of the packets from the host, and of those to it.
func (h *Host) Loss(fraction float64) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.loss = fraction
}

// Partition loses all packets in the given directions; without one, in both. Packets that were delayed before still arrive.
func (h *Host) Partition(ways ...Way) {
	if len(ways) == 0 {
		ways = []Way{Sends, Receives}
	}
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.cut = [2]bool{}
	for _, w := range ways {
		h.cut[w] = true
	}
}

// Heal ends the host's partition. Delay and loss remain.
func (h *Host) Heal() {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	h.cut = [2]bool{}
}

// String returns the address of the host.
func (h *Host) String() string { return fmt.Sprint(h.address) }
