package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/engine"
)

// fleetKillsEnv is the environment variable for the number of kills, and fleetSeedEnv for the seed of their moments. make fleet-kills
// sets both.
const fleetKillsEnv, fleetSeedEnv = "THRONG_FLEET_KILLS", "THRONG_FLEET_SEED"

// mostOfRun bounds the disturbances of one run.
const mostOfRun = 8

// rigScenario is a scenario for a rig.
type rigScenario struct {
	name string
	args func(t *testing.T) []string
}

var rigScenarios = []rigScenario{
	{"shopping", func(t *testing.T) []string {
		return []string{
			signInScenario(t, t.TempDir()), "--set", "agents=24", "--set", "eagerness=8", "--set", "llm_share=0.3", "--cycles", "2", "--service", "shop=http://" + rigShop,
		}
	}},
	{"conversation", func(*testing.T) []string { return []string{"conversation", "--set", "pairs=32", "--set", "turns=6"} }},
	{"world", func(*testing.T) []string { return []string{"world", "--set", "hours=5"} }},
	{"analysis", func(t *testing.T) []string {
		var texts strings.Builder
		for i := range 60 {
			fmt.Fprintf(&texts, "{\"text\": \"Letter %d: the ferry left Porto %d minutes late, and the crew was kind.\"}\n", i, i*7%50)
		}
		return []string{"analysis", "--payload", write(t, filepath.Join(t.TempDir(), "texts.jsonl"), texts.String())}
	}},
}

// arguments returns the arguments of a run without those that differ between processes.
func (s *rigScenario) arguments(t *testing.T) []string {
	t.Helper()
	return append(s.args(t), "--seed", rigSeed, "--max-concurrent", "12", "--llm-rate", "50", "--set", "provider=openai", "--service", "model=http://"+rigModel+"/v1#mock-1",
		"--allow", rigShop+","+rigModel)
}

// rigResult is the result of a run, in lines that do not depend on timing.
type rigResult struct {
	parts    [][]string // sessions, events and changes of the shop
	exact    bool
	again    int64 // requests that may have been carried out twice
	sessions int
}

// result reads the result of the run.
func (r *rig) result() (all rigResult) {
	r.Helper()
	m, out := manifestOf(r.T, r.data)
	all.exact, all.again = m.Exact, m.Count
	for _, name := range []string{"sessions.csv", "events.csv"} {
		all.parts = append(all.parts, strings.Split(read(r.T, out, name), "\n"))
	}
	all.sessions = len(all.parts[0]) - 2 // the header, and an empty line
	run := engine.RunID(newestRun(r.T, r.data))
	changes, err := prove.Changes(r.shopLog, func(text string) string { return string(engine.Settle([]byte(text), 7, []engine.RunID{run})) })
	if err != nil {
		r.Fatal(err)
	}
	all.parts = append(all.parts, changes)
	return all
}

// disturbance is what happens to a machine of a rig.
type disturbance struct {
	after  time.Duration // since the previous one
	worker int           // its index; that of the coordinator is -1
	length time.Duration // until the process is started again, or the network is back
	cut    bool          // the network, not the process
	deaf   bool          // only packets to the worker are lost
}

func between(draw *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(draw.Int64N(int64(most-least)))
}

// plannedKills draws kills: two of workers for one of the coordinator.
func plannedKills(draw *rand.Rand, number int) (all []disturbance) {
	first := draw.IntN(3)
	for i := range min(number, mostOfRun) {
		d := disturbance{after: between(draw, 0, 2500*time.Millisecond), worker: draw.IntN(workersOfRig), length: between(draw, 0, time.Second)}
		if (first+i)%3 == 2 {
			d.worker = -1
		}
		all = append(all, d)
	}
	return all
}

// plannedCuts draws partitions that last longer than the lease of a worker. In every second one, packets of the worker still arrive.
func plannedCuts(draw *rand.Rand, number int) (all []disturbance) {
	first := draw.IntN(2)
	for i := range min(number, mostOfRun/2) {
		all = append(all, disturbance{
			after: between(draw, 0, 3*time.Second), worker: draw.IntN(workersOfRig), length: between(draw, 6*time.Second, 8*time.Second), cut: true, deaf: (first+i)%2 == 0,
		})
	}
	return all
}

// rigRow is the sum of some runs of a scenario.
type rigRow struct {
	scenario                          string
	runs, sessions                    int
	workers, coordinators, partitions int
	packets                           int64 // lost by the network
	lost, doubled, inexact            int   // lines, and runs
	alone, took                       time.Duration
}

// disturb executes a run while a plan disturbs it, and adds to the row. It returns the number of disturbances that happened.
func (row *rigRow) disturb(t *testing.T, args []string, seed uint64, plan []disturbance, want *rigResult) (happened int) {
	t.Helper()
	began := time.Now()
	r := newRig(t, seed)
	r.trouble(50*time.Millisecond, 0.05)
	r.run(args)
	for _, d := range plan {
		if !r.pause(d.after) {
			break
		}
		switch {
		case d.cut:
			r.cut(r.workers[d.worker], d.deaf, d.length)
			row.partitions++
			happened++
		case d.worker < 0 && r.killCoordinator(d.length):
			row.coordinators++
			happened++
		case d.worker >= 0 && r.killWorker(r.workers[d.worker], d.length):
			row.workers++
			happened++
		}
	}
	r.finish()
	row.runs++
	row.took += time.Since(began)
	row.packets += r.network.Lost()
	row.compare(t, r.result(), want)
	return happened
}

// compare compares a result with the undisturbed one.
func (row *rigRow) compare(t *testing.T, got rigResult, want *rigResult) {
	t.Helper()
	row.sessions += got.sessions
	for i, name := range []string{"sessions.csv", "events.csv", "changes of the shop"} {
		row.lost += prove.Missing(want.parts[i], got.parts[i])
		row.doubled += prove.Missing(got.parts[i], want.parts[i])
		if !slices.Equal(got.parts[i], want.parts[i]) {
			t.Errorf("%s differs\n%s", name, difference(strings.Join(want.parts[i], "\n"), strings.Join(got.parts[i], "\n")))
		}
	}
	if !got.exact || got.again != 0 {
		row.inexact++
		t.Errorf("the run is exact: %t; %d requests are not confirmed", got.exact, got.again)
	}
}

// repeat executes runs until the given number of disturbances have happened.
func (row *rigRow) repeat(t *testing.T, s *rigScenario, seed uint64, number int, planned func(draw *rand.Rand, number int) []disturbance) {
	t.Helper()
	args := s.arguments(t)
	want := row.reference(t, args)
	for trial, left := uint64(0), number; left > 0 && !t.Failed(); trial++ {
		if trial > uint64(10+4*number) {
			t.Fatalf("%d disturbances have not happened: the runs are too short", left)
		}
		t.Run(fmt.Sprint("run ", trial), func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, trial))
			plan := planned(draw, left)
			left -= row.disturb(t, args, draw.Uint64(), plan, want)
			if t.Failed() {
				t.Logf("seed %d, trial %d: %+v", seed, trial, plan)
			}
		})
	}
}

// reference executes the run in one process without disturbance.
func (row *rigRow) reference(t *testing.T, args []string) *rigResult {
	t.Helper()
	r := newRig(t, 0)
	began := time.Now()
	r.undisturbed(args)
	row.alone = time.Since(began)
	want := r.result()
	if !want.exact || want.sessions < 30 {
		t.Fatalf("%d sessions, exact %t: the test would prove little", want.sessions, want.exact)
	}
	return &want
}

// numberFrom reads a number from the environment.
func numberFrom(t *testing.T, name string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(otherwise)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// onRigs calls a function for some scenarios, at the same time, and prints the rows.
func onRigs(t *testing.T, scenarios []rigScenario, do func(t *testing.T, i int, row *rigRow)) {
	t.Helper()
	rows := make([]rigRow, len(scenarios))
	t.Run("all", func(t *testing.T) {
		for i, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				rows[i].scenario = s.name
				do(t, i, &rows[i])
			})
		}
	})
	lines := []string{
		"| Scenario | runs | sessions | kills of workers | of coordinators | partitions | packets lost | lost | doubled | inexact runs | one process | mean of a run |",
		"|---|---|---|---|---|---|---|---|---|---|---|---|",
	}
	for _, r := range rows {
		mean := r.took / time.Duration(max(r.runs, 1))
		lines = append(lines, fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f s | %.1f s |",
			r.scenario, r.runs, r.sessions, r.workers, r.coordinators, r.partitions, r.packets, r.lost, r.doubled, r.inexact, r.alone.Seconds(), mean.Seconds()))
	}
	t.Logf("\n%s", strings.Join(lines, "\n"))
}

// TestFleetKills kills workers and coordinators at random moments, while each worker is behind a network with 50 ms of latency and 5% of
// packets lost in each direction. Sessions, events and the changes of the shop equal those of one undisturbed process.
func TestFleetKills(t *testing.T) {
	t.Parallel()
	kills, seed := numberFrom(t, fleetKillsEnv, 4), numberFrom(t, fleetSeedEnv, 20261128)
	onRigs(t, rigScenarios, func(t *testing.T, i int, row *rigRow) {
		n := len(rigScenarios)
		row.repeat(t, &rigScenarios[i], uint64(seed+i), (kills+n-1-i)/n, plannedKills)
	})
}

// TestFleetPartitions cuts workers off for some seconds, on the same network. They notice, and return.
func TestFleetPartitions(t *testing.T) {
	t.Parallel()
	scenarios, number := rigScenarios[2:3], 2
	if os.Getenv(fleetKillsEnv) != "" {
		scenarios, number = rigScenarios, 10
	}
	seed := numberFrom(t, fleetSeedEnv, 20261128)
	onRigs(t, scenarios, func(t *testing.T, i int, row *rigRow) {
		row.repeat(t, &scenarios[i], uint64(seed+i), number, plannedCuts)
	})
}
