//go:build linux

package network

import (
	"container/heap"
	"sync"
	"time"
)

// longest is the number of packets that a queue holds. Further ones are lost, as at a real switch.
const longest = 20_000

// queue holds the packets for a host until they are due.
type queue struct {
	changed chan struct{} // has an element if a packet became the first

	mu      sync.Mutex
	packets packets
	added   uint64
}

func newQueue() *queue { return &queue{changed: make(chan struct{}, 1)} }

type packet struct {
	text   []byte
	due    time.Time
	number uint64 // packets that are due at the same time stay in order
}

// add adds a packet; false if the queue is full.
func (q *queue) add(text []byte, due time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.packets) >= longest {
		return false
	}
	q.added++
	heap.Push(&q.packets, packet{text, due, q.added})
	if q.packets[0].number == q.added {
		select {
		case q.changed <- struct{}{}:
		default:
		}
	}
	return true
}

// next waits for the next packet; nil when the end is closed.
func (q *queue) next(end <-chan struct{}) []byte {
	for {
		wait, text := q.take(time.Now())
		if text != nil {
			return text
		}
		var late <-chan time.Time
		if wait > 0 {
			late = time.After(wait)
		}
		select {
		case <-late:
		case <-q.changed:
		case <-end:
			return nil
		}
	}
}

// take returns the first packet if it is due, or else the time until then; 0 if there is no packet.
func (q *queue) take(now time.Time) (wait time.Duration, text []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.packets) == 0 {
		return 0, nil
	}
	if wait = q.packets[0].due.Sub(now); wait > 0 {
		return wait, nil
	}
	first, _ := heap.Pop(&q.packets).(packet)
	return 0, first.text
}

// packets is a heap by due time.
type packets []packet

func (p packets) Len() int      { return len(p) }
func (p packets) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

func (p packets) Less(i, j int) bool {
	if c := p[i].due.Compare(p[j].due); c != 0 {
		return c < 0
	}
	return p[i].number < p[j].number
}

// Push is a part of heap.Interface.
func (p *packets) Push(x any) {
	if one, ok := x.(packet); ok {
		*p = append(*p, one)
	}
}

// Pop is a part of heap.Interface.
func (p *packets) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
