package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/faults/network"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/storage/sqlite"
)

// The machines of a rig.
const (
	coordinatorHost = iota
	backendHost
	firstWorkerHost
	workersOfRig = 3
)

// Where machines reach each other.
const (
	rigFleet  = "10.77.0.1:7422"
	rigShop   = "10.77.0.2:8001"
	rigModel  = "10.77.0.2:8002"
	rigSecret = "rig"
	rigSeed   = "7"
)

// rigPatience is how long a run may take after its last disturbance.
const rigPatience = 4 * time.Minute

// reviveEvery is how often the rig looks for workers that have ended.
const reviveEvery = 500 * time.Millisecond

// rig is a fleet on machines with networks of their own: a coordinator, three workers, and the backends that all of them call.
type rig struct {
	*testing.T
	network     *network.Network
	coordinator *rigMachine
	workers     []*rigMachine
	data        string // of the coordinator
	shopLog     string
	join        string
}

// newRig makes the machines and starts the backends.
func newRig(t *testing.T, seed uint64) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{T: t, network: network.New(t, firstWorkerHost+workersOfRig, seed), data: filepath.Join(dir, "coordinator"), shopLog: filepath.Join(dir, "shop.log")}
	shop, err := mock.Start(mock.Config{Secret: rigSecret, Seed: 7, Log: r.shopLog})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	model, err := mock.StartModel(mock.ModelConfig{Secret: rigSecret, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	r.serve(8001, shop.URL())
	r.serve(8002, strings.TrimSuffix(model.URL(), "/v1"))
	r.coordinator = r.machine("coordinator", coordinatorHost)
	for i := range workersOfRig {
		r.workers = append(r.workers, r.machine(fmt.Sprint("worker-", i+1), firstWorkerHost+i))
	}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, m := range append([]*rigMachine{r.coordinator}, r.workers...) {
			t.Logf("%s said\n%s", m.name, lastOf(m.said.text(), 30_000))
		}
	})
	return r
}

// lastOf returns the end of a text.
func lastOf(text string, size int) string { return text[max(0, len(text)-size):] }

// serve makes a server of this process reachable from all machines.
func (r *rig) serve(port uint16, at string) {
	r.Helper()
	to, err := url.Parse(at)
	if err != nil {
		r.Fatal(err)
	}
	l, err := r.network.Host(backendHost).Listen(port)
	if err != nil {
		r.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // requests of killed processes end early
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute, ErrorLog: proxy.ErrorLog}
	go func() { _ = server.Serve(l) }() // until it is closed
	r.Cleanup(func() { _ = server.Close() })
}

// trouble puts the workers behind a slow and lossy network.
func (r *rig) trouble(latency time.Duration, loss float64) {
	for i := range r.workers {
		h := r.network.Host(firstWorkerHost + i)
		h.Delay(latency, 0)
		h.Loss(loss)
	}
}

// run starts a run and its workers, and waits for the run's first line.
func (r *rig) run(args []string) {
	r.Helper()
	r.coordinator.start(nil, append([]string{"run", "--fleet", rigFleet}, r.common(args)...)...)
	r.join = r.coordinator.await(`throng://\S+`)
	for _, w := range r.workers {
		r.startWorker(w)
	}
	r.coordinator.await(`(?m)^run \S+: `)
}

// common returns the arguments of every process that starts or resumes the run.
func (r *rig) common(args []string) []string {
	return append(args, "--data", r.data, "--no-dashboard", "--keep-awake=off")
}

// undisturbed executes the run in one process.
func (r *rig) undisturbed(args []string) {
	r.Helper()
	r.coordinator.start(nil, append([]string{"run"}, r.common(args)...)...)
	r.finish()
}

func (r *rig) startWorker(w *rigMachine) {
	r.Helper()
	w.start([]string{about.JoinEnv + "=" + r.join}, "worker", "--name", w.name, "--cores", "1", "--data", filepath.Join(filepath.Dir(r.data), w.name))
}

// over reports whether the run is stored as ended. No process has the store.
func (r *rig) over() bool {
	r.Helper()
	store, err := sqlite.Open(r.data, sqlite.Options{})
	if err != nil {
		r.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			r.Error(err)
		}
	}()
	record, err := store.Newest(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return record.Ending != engine.NotEnded
}

// killWorker kills a worker and starts it again after a pause. It returns false if the process had ended before.
func (r *rig) killWorker(w *rigMachine, pause time.Duration) (killed bool) {
	r.Helper()
	r.revive()
	killed = w.kill()
	r.pause(pause)
	r.startWorker(w)
	return killed
}

// revive starts workers again that found no coordinator when they started, as a service manager does. No worker may end otherwise.
func (r *rig) revive() {
	r.Helper()
	for _, w := range r.workers {
		if w.cmd == nil || w.killed || w.running() {
			continue
		}
		if said := w.said.text(); !strings.Contains(said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:], "join the fleet: ") {
			r.Fatalf("%s ended: %v", w.name, w.err)
		}
		r.startWorker(w)
	}
}

// killCoordinator kills the coordinator and resumes its run after a pause. It returns false if the process had ended before.
func (r *rig) killCoordinator(pause time.Duration) bool {
	r.Helper()
	if !r.coordinator.kill() {
		return false
	}
	r.pause(pause)
	if !r.over() {
		r.coordinator.start(nil, append([]string{"resume", "--fleet", rigFleet}, r.common(nil)...)...)
	}
	return true
}

// cut loses all packets to a worker, and those from it unless it is only deaf, for a while. The worker must notice, at the latest when
// the request that it waits for times out.
func (r *rig) cut(w *rigMachine, deaf bool, length time.Duration) {
	r.Helper()
	r.revive()
	w.await(`run \S+: `)
	before := len(w.said.text())
	if deaf {
		w.host.Partition(network.Receives)
	} else {
		w.host.Partition()
	}
	if r.pause(length) && !strings.Contains(w.said.text()[before:], "the coordinator does not answer") {
		r.Errorf("%s was cut off for %v and has not noticed", w.name, length)
	}
	w.host.Heal()
}

// pause waits for a while, or until the coordinator has ended by itself: then it returns false.
func (r *rig) pause(length time.Duration) bool {
	r.Helper()
	ended := r.coordinator.ended
	if r.coordinator.killed {
		ended = nil
	}
	late, tick := time.After(length), time.NewTicker(reviveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return false
		case <-late:
			return true
		case <-tick.C:
			r.revive()
		}
	}
}

// finish waits for the end of the run.
func (r *rig) finish() {
	r.Helper()
	if c := r.coordinator; c.killed {
		return
	}
	if r.pause(rigPatience) {
		for _, m := range append(r.workers, r.coordinator) {
			if m.cmd != nil {
				m.dump()
			}
		}
		r.Fatal("the run hangs")
	}
	if code := r.coordinator.cmd.ProcessState.ExitCode(); code != exitDone && code != exitFailed { // a missed criterion
		r.Fatalf("the coordinator ended: %v", r.coordinator.err)
	}
	if !r.over() {
		r.Fatal("the run has not ended")
	}
}

// machine returns a machine without a process.
func (r *rig) machine(name string, host int) *rigMachine {
	m := &rigMachine{T: r.T, name: name, host: r.network.Host(host), said: &transcript{began: time.Now(), changed: make(chan struct{})}, ended: make(chan struct{})}
	close(m.ended)
	return m
}

// rigMachine is a machine of a rig with at most one process.
type rigMachine struct {
	*testing.T
	name   string
	host   *network.Host
	said   *transcript // by all of its processes
	cmd    *exec.Cmd
	ended  chan struct{} // closed after the process has ended
	err    error
	killed bool
}

// start starts throngctl.
func (m *rigMachine) start(env []string, args ...string) {
	m.Helper()
	m.cmd, _, _ = process(m.T, append(env, "OPENAI_API_KEY="+rigSecret, "SHOP_PASSWORD="+rigSecret), args...)
	m.cmd.Stdout, m.cmd.Stderr = m.said, m.said
	if err := m.host.Start(m.cmd); err != nil {
		m.Fatal(err)
	}
	m.killed = false
	cmd, ended := m.cmd, make(chan struct{})
	m.ended = ended
	go func() {
		m.err = cmd.Wait()
		close(ended)
	}()
}

// kill kills the process with SIGKILL. It returns false if the process had ended before.
func (m *rigMachine) kill() bool {
	_ = m.cmd.Process.Kill() // it may have ended
	<-m.ended
	m.killed = m.cmd.ProcessState.ExitCode() == -1
	return m.killed
}

// running reports whether the process has not ended.
func (m *rigMachine) running() bool {
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// dump has the process print what its goroutines do.
func (m *rigMachine) dump() {
	_ = m.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
	select {
	case <-m.ended:
	case <-time.After(time.Minute):
	}
}

// await waits for a text, and returns it.
func (m *rigMachine) await(pattern string) string {
	m.Helper()
	like, late := regexp.MustCompile(pattern), time.After(rigPatience)
	for {
		text, changed := m.said.now()
		if found := like.FindString(text); found != "" {
			return found
		}
		select {
		case <-changed:
		case <-m.ended:
			m.Fatalf("%s ended before it said %q: %v", m.name, pattern, m.err)
		case <-late:
			m.dump()
			m.Fatalf("%s has not said %q", m.name, pattern)
		}
	}
}

// transcript is what processes print. Its methods are safe for concurrent use.
type transcript struct {
	mu      sync.Mutex
	all     bytes.Buffer
	began   time.Time
	changed chan struct{} // closed and replaced after each change
}

func (s *transcript) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.all.Write(text)
}

func (s *transcript) now() (text string, changed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String(), s.changed
}

func (s *transcript) text() string {
	text, _ := s.now()
	return text
}
