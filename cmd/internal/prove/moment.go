package prove

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// Moment is a kind of instant at which a process can die. The texts stand in the environment of children.
type Moment uint8

// The moments, in the order of a request's life.
const (
	Sending Moment = iota // a request is about to leave
	Request               // a service of the mock has done what it was asked, and its answer has not left
	Answer                // an answer is there, and nothing of it is journaled
	Commit                // a commit of the journal is durable, and nobody has heard of it
	moments               // how many there are
)

var momentNames = [moments]string{"sending", "request", "answer", "commit"}

func (m Moment) String() string { return momentNames[m] }

// Point is the N-th moment of a kind in a process, from 1.
type Point struct {
	Moment
	N int64
}

func (p Point) String() string { return fmt.Sprintf("%s:%d", p.Moment, p.N) }

func parsePoint(text string) (p Point, ok bool) {
	name, number, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	for m, known := range momentNames {
		if name == known && err == nil {
			return Point{Moment(m), n}, true
		}
	}
	return p, false
}

// What a child is told by its environment: the point at which it kills itself, and the file that it writes its counts to.
const (
	KillEnv  = "THRONG_PROVE_KILL"
	CountEnv = "THRONG_PROVE_COUNT"
)

// Counter counts the moments of this process, and kills it at one. The nil counter does nothing.
type Counter struct {
	counts [moments]atomic.Int64
	fatal  Point // of N 0: none
	path   string
}

// FromEnv returns what the environment asks for; nil is that it asks for nothing.
func FromEnv(env func(string) string) *Counter {
	kill, path := env(KillEnv), env(CountEnv)
	if kill == "" && path == "" {
		return nil
	}
	c := &Counter{path: path}
	if p, ok := parsePoint(kill); ok {
		c.fatal = p
	}
	return c
}

// Reached counts a moment. At the fatal one it does not return: nothing more leaves this process.
func (c *Counter) Reached(m Moment) {
	if c == nil {
		return
	}
	if n := c.counts[m].Add(1); m != c.fatal.Moment || n != c.fatal.N {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // SIGKILL: nothing of this program runs after it
	}
	select {}
}

// Write writes the counts where the environment wants them.
func (c *Counter) Write() error {
	if c == nil || c.path == "" {
		return nil
	}
	var b strings.Builder
	for m := range moments {
		fmt.Fprintln(&b, m, c.counts[m].Load())
	}
	return os.WriteFile(c.path, []byte(b.String()), 0o600)
}

// Counts are how many moments of each kind a process saw.
type Counts [moments]int64

// ReadCounts reads what a child wrote.
func ReadCounts(path string) (c Counts, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		p, ok := parsePoint(name + ":" + number)
		if !ok {
			return c, fmt.Errorf("%q is no count", line)
		}
		c[p.Moment] = p.N
	}
	return c, nil
}
