package prove

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Moment is a kind of point at which a process can die. The environment of children contains the texts.
type Moment uint8

// The moments, in the order of a request's life.
const (
	Sending Moment = iota // a request is about to be sent
	Request               // a service of the mock has done the request's work, and has not sent its answer
	Answer                // an answer has arrived and is not in the journal
	Message               // a worker is about to send a message to its coordinator
	Commit                // a commit of the journal is durable, and no one has been notified
	moments               // the number of moments
)

var momentNames = [moments]string{"sending", "request", "answer", "message", "commit"}

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

// Environment variables of a process: the point at which it kills itself, and the file for its counts.
const (
	KillEnv  = "THRONG_PROVE_KILL"
	CountEnv = "THRONG_PROVE_COUNT"
)

// workersEnv has the variables above for the workers that a process starts: as JSON, a list for each of them.
const workersEnv = "THRONG_PROVE_WORKERS"

// own reports whether an entry of an environment is one of these variables.
func own(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return name == KillEnv || name == CountEnv || name == workersEnv
}

// Counter counts the moments of this process, and kills it at one of them. The nil counter does nothing.
type Counter struct {
	counts  [moments]atomic.Int64
	fatal   Point // if N is 0, there is none
	path    string
	workers [][]string // variables for the first start of each worker
}

// FromEnv returns the counter that the environment requests, or nil.
func FromEnv(env func(string) string) *Counter {
	kill, path, workers := env(KillEnv), env(CountEnv), env(workersEnv)
	if kill == "" && path == "" && workers == "" {
		return nil
	}
	c := &Counter{path: path}
	if workers != "" {
		_ = json.Unmarshal([]byte(workers), &c.workers) // a mistake shows as kills that do not happen
	}
	if p, ok := parsePoint(kill); ok {
		c.fatal = p
	}
	return c
}

// WorkerEnv returns the environment of a start of a worker, both counted from 1, that would otherwise inherit env. Only the first start
// of a worker has a point at which it kills itself.
func (c *Counter) WorkerEnv(env []string, worker, start int) []string {
	env = slices.DeleteFunc(slices.Clone(env), own)
	if start == 1 && worker <= len(c.workers) {
		env = append(env, c.workers[worker-1]...)
	}
	return env
}

// Reached counts a moment. At the fatal one it does not return, and the process sends nothing more. Its counts are written first, so
// that a worker's death is known.
func (c *Counter) Reached(m Moment) {
	if c == nil {
		return
	}
	if n := c.counts[m].Add(1); m != c.fatal.Moment || n != c.fatal.N {
		return
	}
	_ = c.Write()
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // SIGKILL: no code of this program runs after it
	}
	select {}
}

// Write writes the counts to the file that the environment names.
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

// Counts are the numbers of moments of each kind in a process.
type Counts [moments]int64

// ReadCounts reads the counts of a child.
func ReadCounts(path string) (c Counts, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		p, ok := parsePoint(name + ":" + number)
		if !ok {
			return c, fmt.Errorf("%q is not a count", line)
		}
		c[p.Moment] = p.N
	}
	return c, nil
}
