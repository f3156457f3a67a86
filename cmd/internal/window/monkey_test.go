package window_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// monkey uses a window at random: clicks, keys, drags and resizes.
type monkey struct {
	*desktop
	draw          *rand.Rand
	width, height int
	env           []string
	did           map[string]int
}

// keys are the keys that a monkey presses. It types only digits: a number is not a host name, so no requests leave this
// machine.
var keys = []string{
	"Tab", "Tab", "shift+Tab", "Return", "space", "Escape", "Up", "Down", "Left", "Right", "Home", "End", "Prior", "Next", "BackSpace", "Delete",
	"0", "1", "7", "9", "plus", "minus", "ctrl+a", "ctrl+c", "ctrl+v", "ctrl+x", "ctrl+z", "ctrl+plus", "ctrl+minus", "ctrl+0",
	"ctrl+1", "ctrl+2", "ctrl+3", "ctrl+4", "ctrl+5", "ctrl+6", "ctrl+7", "ctrl+n", "ctrl+p", "ctrl+f", "ctrl+e", "ctrl+r", "ctrl+Return", "F1", "Menu",
}

// event returns a random event in the form that xdotool reads.
func (m *monkey) event() string {
	x, y := m.draw.IntN(m.width), m.draw.IntN(m.height)
	switch n := m.draw.IntN(100); {
	case n < 55:
		m.did["taps"]++
		return fmt.Sprintf("mousemove %d %d click 1", x, y)
	case n < 58:
		m.did["right taps"]++
		return fmt.Sprintf("mousemove %d %d click 3", x, y)
	case n < 63:
		m.did["turns of the wheel"]++
		return fmt.Sprintf("mousemove %d %d click %d", x, y, 4+m.draw.IntN(2))
	case n < 68:
		m.did["drags"]++
		return fmt.Sprintf("mousemove %d %d mousedown 1 mousemove %d %d mouseup 1", x, y, m.draw.IntN(m.width), m.draw.IntN(m.height))
	case n < 69:
		m.did["resizes"]++
		m.width, m.height = 640+m.draw.IntN(960), 420+m.draw.IntN(580)
		return fmt.Sprintf("windowsize %%1 %d %d", m.width, m.height)
	default:
		m.did["keys"]++
		return "key " + keys[m.draw.IntN(len(keys))]
	}
}

// play sends n events and fails if the window does not respond after them. If the monkey has quit the program, it starts
// again.
func (m *monkey) play(n int) {
	m.t.Helper()
	var script strings.Builder
	script.WriteString("search --onlyvisible --name Throng\n")
	for range n {
		script.WriteString(m.event() + "\n")
	}
	if _, err := m.drive(script.String(), "-"); err != nil && m.alive() {
		m.t.Fatal(err)
	}
	if m.settled() {
		return
	}
	if code := m.ended(); code != 0 {
		m.t.Fatalf("exit code %d\n%s", code, m.log)
	}
	m.did["quits"]++
	m.start(m.env...)
}

// settled reports whether the window responds; false if the program has ended. A hang fails the test.
func (m *monkey) settled() bool {
	m.t.Helper()
	for range int(patience / (100 * time.Millisecond)) {
		m.shown = nil
		if m.look(); m.shown != nil {
			return true
		}
		if !m.alive() {
			return false
		}
		m.xdotool("sleep", "0.1")
	}
	_ = m.cmd.Process.Signal(syscall.SIGQUIT)
	_ = m.cmd.Wait()
	m.t.Fatalf("the window no longer responds:\n%s", m.log)
	return false
}

// alive reports whether the process is running.
func (m *monkey) alive() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return state != "" && state[0] != 'Z'
}

// number returns the number in an environment variable, or a default.
func number(t *testing.T, name string, fallback int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMonkey sends random clicks, keys, drags and resizes to a window during a run. The program must not panic, hang or
// grow without bounds, and the window must respond after every 250 events. Package desk sends ten times as many events
// without the toolkit's driver, and checks that no goroutine is left.
func TestMonkey(t *testing.T) {
	t.Parallel()
	const batch = 250
	seed, events := number(t, "THRONG_MONKEY_SEED", 20261122), number(t, "THRONG_MONKEY_EVENTS", 1000)
	t.Logf("seed %d", seed)
	m := &monkey{
		desktop: newDesktop(t, 1600, 1000), draw: rand.New(rand.NewPCG(uint64(seed), 1)), width: 1280, height: 800, did: map[string]int{},
		env: []string{"GODEBUG=netdns=go"},
	}
	m.save(`{"time-scale": "1200"}`)
	m.start(m.env...)
	m.click("Launch")
	m.until("a run in progress", func() bool { return m.find("running") != nil })
	var before vitals
	for done := 0; done < events; done += batch {
		m.play(batch)
		if before.goroutines == 0 {
			before = m.vitals()
		}
		t.Logf("after %d events %+v", done+batch, m.vitals())
	}
	after := m.vitals()
	t.Logf("%v; %d goroutines and %d MB of heap after the first %d events, %d and %d MB after the last",
		m.did, before.goroutines, before.heap>>20, batch, after.goroutines, after.heap>>20)
	if after.heap > before.heap+500<<20 { // textures and answers stay for a while; package desk counts goroutines
		t.Errorf("%d MB of heap, first %d MB", after.heap>>20, before.heap>>20)
	}
	if log := m.log.String(); strings.Contains(log, "panic") || strings.Contains(log, "Error in Fyne call thread") {
		t.Errorf("the log has errors:\n%s", log)
	}
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := m.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, m.log)
	}
}
