package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// effectsEnv is the environment variable for the number of kills in the demonstration of effects; programEnv is for another
// throngctl to compare with. make effects sets both.
const effectsEnv, programEnv = "THRONG_EFFECT_KILLS", "THRONG_EFFECT_PROGRAM"

// effectKills returns how often a run is killed, and the number of its buyers.
func effectKills(t *testing.T) (kills, buyers int) {
	t.Helper()
	kills, err := strconv.Atoi(cmp.Or(os.Getenv(effectsEnv), "3"))
	if err != nil {
		t.Fatal(err)
	}
	return kills, 30 * (kills + 1)
}

// killedRun runs a scenario against a shop, kills its process with SIGKILL a number of times during requests, resumes it
// each time, and returns the data folder.
func killedRun(t *testing.T, shop *plainShop, file string, kills, buyers int) (data string) {
	t.Helper()
	const seed = 20261124
	draw := rand.New(rand.NewPCG(seed, uint64(kills)))
	data = filepath.Join(t.TempDir(), "data")
	args := []string{"run", file, "--data", data, "--seed", "7", "--max-concurrent", "10", "--no-dashboard", "--keep-awake=off"}
	for kill := 0; ; kill++ {
		cmd, out, stderr := process(t, nil, args...)
		if program := os.Getenv(programEnv); program != "" { // another version, to compare with
			cmd.Path = program
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill < kills { // the first request is sent long after this line, so the process is known by then
			shop.killAt(5+draw.IntN(buyers/(kills+1)), func() { _ = cmd.Process.Kill() })
		}
		err := cmd.Wait()
		if err == nil {
			if kill < kills {
				t.Fatalf("seed %d: the run ended after %d of %d kills\n%s", seed, kill, kills, out)
			}
			t.Logf("output of the last process:\n%s", out)
			return data
		}
		if kill >= kills || cmd.ProcessState.ExitCode() >= 0 {
			t.Fatalf("seed %d, kill %d: %v\n%s%s", seed, kill, err, out, stderr)
		}
		args = []string{"resume", "--data", data, "--no-dashboard", "--keep-awake=off"}
	}
}

// manifestOf exports a run and returns its run.json.
func manifestOf(t *testing.T, data string) (m struct {
	Exact       bool
	Unconfirmed []struct {
		Step, Request string
		Agent         int `json:"agent_index"`
	}
	Count int64 `json:"unconfirmed_count"`
}, out string,
) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	if code, stdout, stderr := ctl(t, "export", "--data", data, "-o", out); code != exitDone {
		t.Fatalf("export: code %d\n%s%s", code, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(read(t, out, "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m, out
}

// scenarioFile writes a scenario.
func scenarioFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "buyers.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKillsAtAPlainShop checks that every order that a shop without idempotency keys received twice is listed, and that the
// run is never exact.
func TestKillsAtAPlainShop(t *testing.T) {
	t.Parallel()
	kills, buyers := effectKills(t)
	shop := newPlainShop(t, 80*time.Millisecond)
	data := killedRun(t, shop, scenarioFile(t, plainBuyers(shop, buyers)), kills, buyers)
	by, _ := shop.ordered()
	doubled := 0
	for _, n := range by {
		if n > 1 {
			doubled++
		}
	}
	m, out := manifestOf(t, data)
	listed := map[string]bool{}
	for _, u := range m.Unconfirmed {
		listed[fmt.Sprintf("buyer-%d", u.Agent)] = true
		if u.Step != "order" || u.Request != "POST /orders" {
			t.Errorf("listed: %+v", u)
		}
	}
	t.Logf("%d buyers, %d kills: %d ordered more than once, %d unconfirmed, exact %t", buyers, kills, doubled, m.Count, m.Exact)
	for buyer, n := range by {
		if n > 1 && !listed[buyer] {
			t.Errorf("%s ordered %d times, but is not listed", buyer, n)
		}
	}
	if len(by) != buyers || doubled == 0 || m.Exact || int(m.Count) < doubled || int(m.Count) > 10*kills {
		t.Errorf("%d of %d buyers ordered, %d of them more than once, %d unconfirmed, exact %t", len(by), buyers, doubled, m.Count, m.Exact)
	}
	_, status, _ := ctl(t, "status", "--data", data)
	_, after, _ := ctl(t, "check", "--after", "--data", data)
	page := filepath.Join(out, "report.html")
	if code, stdout, stderr := ctl(t, "report", "--data", data, "-o", page); code != exitDone {
		t.Fatalf("report: code %d\n%s%s", code, stdout, stderr)
	}
	says := fmt.Sprintf("%d requests may have been carried out more than once", m.Count)
	for what, text := range map[string]string{"status": status, "check --after": after, "the report": read(t, page)} {
		if !strings.Contains(text, says) {
			t.Errorf("%s does not contain %q:\n%s", what, says, text[:min(len(text), 3000)])
		}
	}
	if !strings.Contains(after, "step order: POST /orders") || !strings.Contains(read(t, out, "timings.csv"), ",unconfirmed,") {
		t.Errorf("check --after:\n%s", after)
	}
	t.Logf("check --after:\n%s", after)
}

// TestKillsAtAShopThatCanBeAsked checks that, with verify, no order is doubled or lost even at a shop without idempotency
// keys, and that the results equal those of an uninterrupted run.
func TestKillsAtAShopThatCanBeAsked(t *testing.T) {
	t.Parallel()
	kills, buyers := effectKills(t)
	asked := os.Getenv(programEnv) == "" // an older program may not know verify
	calm, shop := newPlainShop(t, 0), newPlainShop(t, 80*time.Millisecond)
	undisturbed := killedRun(t, calm, scenarioFile(t, cartBuyers(calm, buyers, asked)), 0, buyers)
	data := killedRun(t, shop, scenarioFile(t, cartBuyers(shop, buyers, asked)), kills, buyers)
	by, items := shop.ordered()
	for buyer, n := range by {
		if n != 1 {
			t.Errorf("%s ordered %d times", buyer, n)
		}
	}
	m, out := manifestOf(t, data)
	if len(by) != buyers || items != 2*buyers || !m.Exact || m.Count != 0 {
		t.Errorf("%d of %d buyers ordered %d items; exact %t, %d unconfirmed", len(by), buyers, items, m.Exact, m.Count)
	}
	_, want := manifestOf(t, undisturbed)
	for _, name := range []string{"sessions.csv", "events.csv"} {
		if read(t, out, name) != read(t, want, name) {
			t.Errorf("%s differs from that of a run that was not killed", name)
		}
	}
	t.Logf("%d buyers, %d kills: %d orders of %d items, exact %t", buyers, kills, len(by), items, m.Exact)
}
