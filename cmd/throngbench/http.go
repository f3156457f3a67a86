package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

//go:embed peers/journey.js
var journeyJS string

const (
	k6Version = "v1.8.1"

	journeyFleet = 50   // concurrent agents or VUs
	journeyMore  = 1000 // additional waiting ones for the measurement of memory
	journeyTime  = 5 * time.Second
	journeyWait  = 5 * time.Second // while the memory of these is measured: longer than it takes them all to be there
)

// httpRows measure journeys over HTTP, without and with TLS.
func httpRows() []row {
	plain, secure := journeyRow("6", false), journeyRow("6s", true)
	plain.what = fmt.Sprintf("Journeys of 5 HTTP requests, %d concurrent, the client on one core", journeyFleet)
	plain.note = "The server, on the other core, is of the benchmark's own and answers fixed bytes; three of the five requests change " +
		"something, so that Throng's journal says before they leave that they will. The client's time is all that its process used, " +
		"its start too, which counts for k6 most. Memory is the growth of the peak from " +
		fmt.Sprintf("%d to %d journeys that wait for an answer, for each.", journeyFleet, journeyFleet+journeyMore) + loadNote + pinNote()
	plain.ratios = append(plain.ratios, loadRatios(len(plain.sides))...)
	plain.sides = append(plain.sides, loadPeers()...)
	plain.parts = []side{ // of both rows
		{name: "server", run: func(ctx context.Context, _ env) (figures, error) { return nil, journeyServer{}.serve(ctx) }},
		{name: "client", run: throngClient},
	}
	secure.what = "The same over HTTPS"
	secure.note = "As in row 6, with TLS 1.3 and HTTP/1.1. k6 does not verify the certificate, Throng does."
	return []row{plain, secure}
}

// journeyRow measures journeys, without a description.
func journeyRow(name string, secure bool) row {
	const rate, memory = "journeys/s", "KB/agent"
	return row{
		name: name,
		sides: []side{
			{name: "Throng, journaled", run: func(ctx context.Context, e env) (figures, error) { return e.throngJourneys(ctx, secure, true) }},
			{name: "Throng, not journaled", run: func(ctx context.Context, e env) (figures, error) { return e.throngJourneys(ctx, secure, false) }},
			{name: "k6", prepare: getK6, run: func(ctx context.Context, e env) (figures, error) { return k6Journeys(ctx, e, secure) }},
		},
		shown: []string{rate, "requests/s", "client's µs/request", "server's µs/request", "peak MB", memory},
		ratios: []ratio{
			{name: "times k6's journeys/s, journaled", must: 3, aim: aimOf(secure), of: over(0, rate, 2, rate)},
			{name: "times k6's journeys/s, not journaled", of: over(1, rate, 2, rate)},
			{name: "of k6's memory for each agent in flight, journaled", must: 1. / 10, aim: 1. / 30, less: true, of: over(0, memory, 2, memory)},
		},
	}
}

// aimOf is the aim of how many times k6's journeys Throng makes.
func aimOf(secure bool) float64 {
	if secure {
		return 4
	}
	return 5
}

// client is what a client of the journey is asked to do, and has done.
type client struct {
	command func(ctx context.Context, at journeyAddress, fleet int, rated bool) (*exec.Cmd, error)
	env     env
	secure  bool                              // over HTTPS
	memory  bool                              // is measured too
	read    func(out []byte) (figures, error) // reads the figures; nil reads JSON in the last line
}

// figures measures a client's rate, and then its memory.
func (c client) figures(ctx context.Context) (figures, error) {
	f, err := c.run(ctx, journeyServer{}, journeyFleet, true)
	if err != nil {
		return nil, err
	}
	if !c.memory {
		return f, nil
	}
	few, err := c.run(ctx, journeyServer{OrderAfter: journeyWait / 5}, journeyFleet, false)
	if err != nil {
		return nil, err
	}
	many, err := c.run(ctx, journeyServer{OrderAfter: journeyWait}, journeyFleet+journeyMore, false)
	if err != nil {
		return nil, err
	}
	f["KB/agent"] = (many["peak MB"] - few["peak MB"]) * 1e3 / journeyMore
	return f, nil
}

// run has the client, on a core of its own, make journeys at a server on another.
func (c client) run(ctx context.Context, s journeyServer, fleet int, rated bool) (figures, error) {
	s.Secure = c.secure
	server, address, stop, err := c.env.startServer(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	defer func() { _ = stop() }() // again, where nothing failed
	command, err := c.command(ctx, address, fleet, rated)
	if err != nil {
		return nil, err
	}
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	read := c.read
	if read == nil {
		read = lastLine
	}
	f, err := read(out)
	if err != nil {
		return nil, fmt.Errorf("the figures of %s: %w", command.Path, err)
	}
	if f["failed"] > 0 || f["requests"] != 5*f["journeys"] || f["journeys"] < float64(fleet) {
		return nil, fmt.Errorf("%v journeys with %v requests and %v failures", f["journeys"], f["requests"], f["failed"])
	}
	if err := stop(); err != nil {
		return nil, fmt.Errorf("stop the server: %w", err)
	}
	f["client's µs/request"] = usedMicros(command) / f["requests"]
	f["server's µs/request"] = usedMicros(server) / f["requests"]
	f["peak MB"] = peakOf(command.ProcessState)
	return f, nil
}

// lastLine reads figures as JSON from the last line of what a client has written.
func lastLine(out []byte) (f figures, err error) {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return f, json.Unmarshal(lines[len(lines)-1], &f)
}

func usedMicros(c *exec.Cmd) float64 {
	return float64((c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Microseconds())
}

// startServer starts the server of the journeys in a process of its own.
func (e env) startServer(ctx context.Context, s journeyServer) (server *exec.Cmd, at journeyAddress, stop func() error, err error) {
	server, err = e.part(ctx, "6/server", 0)
	if err != nil {
		return nil, at, nil, err
	}
	in, err := server.StdinPipe()
	if err != nil {
		return nil, at, nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, at, nil, err
	}
	if err := server.Start(); err != nil {
		return nil, at, nil, err
	}
	var stopped error
	running := true
	stop = func() error {
		if running {
			running = false
			_ = in.Close() // ends it
			_, _ = io.Copy(io.Discard, out)
			stopped = server.Wait()
		}
		return stopped
	}
	if err = json.NewEncoder(in).Encode(s); err == nil {
		err = json.NewDecoder(out).Decode(&at)
	}
	if err != nil {
		_ = stop()
		return nil, at, nil, err
	}
	return server, at, stop, nil
}

// part is this program as a part of a row, on a core.
func (e env) part(ctx context.Context, name string, core int) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return pinned(ctx, core, self, "-tools", e.tools, "-child", name), nil
}

// pinned is a command that stays on a core, where that can be asked for.
func pinned(ctx context.Context, core int, name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > core {
		return exec.CommandContext(ctx, taskset, append([]string{"-c", fmt.Sprint(core), name}, args...)...)
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	return c
}

// pinNote says where that cannot be.
func pinNote() string {
	if _, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 1 {
		return ""
	}
	return " Neither is pinned to a core here, because taskset or a second core is missing: GOMAXPROCS is 1 for both."
}

func getK6(ctx context.Context, e env) (string, error) {
	return k6Version, e.install(ctx, "k6", "go.k6.io/k6", k6Version)
}

// install builds a peer of a Go module, once. A missingError says why it cannot be had.
func (e env) install(ctx context.Context, name, module, version string) error {
	dir := e.peerDir(name, version)
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
		return nil
	}
	c := exec.CommandContext(ctx, "go", "install", module+"@"+version)
	c.Dir = os.TempDir() // outside of this module
	c.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return missingError(name + " could not be built: " + lines[len(lines)-1])
	}
	return nil
}

func (e env) peerDir(name, version string) string { return filepath.Join(e.tools, name+"-"+version) }

func k6Journeys(ctx context.Context, e env, secure bool) (figures, error) {
	script := filepath.Join(e.dir, "journey.js")
	if err := os.WriteFile(script, []byte(journeyJS), 0o600); err != nil {
		return nil, err
	}
	return client{env: e, secure: secure, memory: true, command: func(ctx context.Context, at journeyAddress, fleet int, rated bool) (*exec.Cmd, error) {
		args := []string{
			"run", "--quiet", "--no-usage-report", "--no-thresholds", "--log-output", "none", "--address", "", "-e", "BASE=" + at.URL, "-e", fmt.Sprint("VUS=", fleet),
		}
		if rated {
			args = append(args, "-e", fmt.Sprint("DURATION=", journeyTime))
		}
		return pinned(ctx, 1, filepath.Join(e.peerDir("k6", k6Version), "k6"), append(args, script)...), nil
	}}.figures(ctx)
}
