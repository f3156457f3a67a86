package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed peers/journey.lua
var journeyLua string

//go:embed peers/journey.py
var journeyPy string

const heyVersion = "v0.1.5"

// loadPeers are further clients of the journeys. A client that is not installed is left out.
func loadPeers() []side {
	return []side{
		{name: "wrk", prepare: versionOf("wrk", "-v"), run: wrkJourneys},
		{name: "hey", prepare: getHey, run: heyOrders},
		{name: "Locust", prepare: versionOf("locust", "--version"), run: locustJourneys},
	}
}

// loadRatios compare Throng with the peers of loadPeers. first is the index of the first of them among the sides.
func loadRatios(first int) []ratio {
	const rate, used = "journeys/s", "client's µs/request"
	return []ratio{
		{name: "times wrk's CPU time of a request, journaled", aim: 2, less: true, of: over(0, used, first, used)},
		{name: "times wrk's CPU time of a request, not journaled", less: true, of: over(1, used, first, used)},
		{name: "times hey's CPU time of a request, not journaled", less: true, of: over(1, used, first+1, used)},
		{name: "times Locust's journeys/s, journaled", of: over(0, rate, first+2, rate)},
	}
}

// loadNote says what the peers do.
const loadNote = " wrk sends the five requests in turn and reads nothing of the answers, and hey sends the last of them only; both keep no journeys. " +
	"Locust makes the same journeys with its FastHttpUser."

// versionOf returns a preparation that looks for an installed program and its version.
func versionOf(name, flag string) func(context.Context, env) (string, error) {
	return func(ctx context.Context, _ env) (string, error) {
		if _, err := exec.LookPath(name); err != nil {
			return "", missingError(name + " is not installed")
		}
		out, _ := exec.CommandContext(ctx, name, flag).CombinedOutput() // wrk exits with 1
		_, version, _ := strings.Cut(strings.Join(strings.Fields(string(out)), " "), " ")
		version, _, _ = strings.Cut(version, " ")
		return version, nil
	}
}

// loadClient measures the rate of a client, which args makes from the address of the server.
func loadClient(ctx context.Context, e env, read func(out []byte) (figures, error), args func(url string) []string) (figures, error) {
	return client{env: e, read: read, command: func(ctx context.Context, at journeyAddress, _ int, _ bool) (*exec.Cmd, error) {
		all := args(at.URL)
		return pinned(ctx, 1, all[0], all[1:]...), nil
	}}.figures(ctx)
}

func wrkJourneys(ctx context.Context, e env) (figures, error) {
	script := filepath.Join(e.dir, "journey.lua")
	if err := os.WriteFile(script, []byte(journeyLua), 0o600); err != nil {
		return nil, err
	}
	return loadClient(ctx, e, nil, func(url string) []string {
		return []string{"wrk", "-t", "1", "-c", fmt.Sprint(journeyFleet), "-d", journeyTime.String(), "-s", script, url}
	})
}

func locustJourneys(ctx context.Context, e env) (figures, error) {
	script := filepath.Join(e.dir, "journey.py")
	if err := os.WriteFile(script, []byte(journeyPy), 0o600); err != nil {
		return nil, err
	}
	return loadClient(ctx, e, nil, func(url string) []string {
		users := fmt.Sprint(journeyFleet)
		return []string{
			"locust", "--headless", "--only-summary", "--skip-log-setup", "--users", users, "--spawn-rate", users, "--run-time", journeyTime.String(),
			"--stop-timeout", "10", "--host", url, "--locustfile", script,
		}
	})
}

func getHey(ctx context.Context, e env) (string, error) {
	return heyVersion, e.install(ctx, "hey", "github.com/rakyll/hey", heyVersion)
}

func heyOrders(ctx context.Context, e env) (figures, error) {
	return loadClient(ctx, e, readHey, func(url string) []string {
		return []string{
			filepath.Join(e.peerDir("hey", heyVersion), "hey"), "-z", journeyTime.String(), "-c", fmt.Sprint(journeyFleet), "-cpus", "1", "-m", "POST",
			"-T", "application/json", "-d", `{"coupon":"c-3","total":3.58}`, url + "/sessions/5f0c9a4e-7d21-4c58-9b1a-2f6e8c3d7b90/orders",
		}
	})
}

// readHey reads the summary of hey. It counts five requests as a journey.
func readHey(out []byte) (figures, error) {
	f := figures{}
	for line := range strings.Lines(string(out)) {
		var status int
		var n float64
		if _, err := fmt.Sscanf(line, " Requests/sec: %f", &n); err == nil {
			f["requests/s"], f["journeys/s"] = n, n/5
		} else if _, err := fmt.Sscanf(line, " [%d] %f responses", &status, &n); err == nil && status == 201 {
			f["requests"], f["journeys"] = n, n/5
		} else if err == nil {
			f["failed"] += n
		}
	}
	if f["requests"] == 0 {
		return nil, fmt.Errorf("no answers in %q", out)
	}
	return f, nil
}
