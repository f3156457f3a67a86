package window_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPictures takes the pictures of the README and the guide into assets/pictures, with make pictures: those of the guide in light, that
// of the README in dark too. They show a run of
// 372 shoppers whose shop is remote, slows down above 40 concurrent calls and sometimes fails.
func TestPictures(t *testing.T) {
	if os.Getenv("THRONG_PICTURES") == "" {
		t.Skip("make pictures takes the pictures of the README and the guide")
	}
	for theme, suffix := range map[string]string{"light": "", "dark": "-dark"} {
		t.Run(theme, func(t *testing.T) {
			l := look{1280, 800, theme, "1"}
			d := newDesktop(t, l.width, l.height)
			journey{d, l, suffix}.take()
		})
	}
}

// journey goes through the window in one look.
type journey struct {
	*desktop
	look   look
	suffix string // of the pictures' names
}

// The mock of the pictures has faults, which can only be set in the terminal, so the run is started there.
var begun = []string{
	"run", "shopping", "--seed", "7", "--cycles", "16", "--set", "eagerness=6", "--set", "think_seconds=0.3", "--governor", "latency",
	"--checkpoint-interval", "20s", "--mock-latency", "remote", "--mock-fault", "capacity=40", "--mock-fault", "server_error=0.01", "--mock-fault", "rate_limited=0.002",
}

func (j journey) take() {
	j.t.Helper()
	j.begin()
	j.save(`{"cycles": "24"}`)
	j.start("FYNE_THEME="+j.look.theme, "FYNE_SCALE="+j.look.scale)
	j.xdotool("search", "--onlyvisible", "--name", "Throng", "windowmove", "0", "0", "windowsize", "1280", "800")
	j.until("the built-in scenario", func() bool { return j.shows("9 ok") })
	j.picture("setup")

	j.click("Runs")
	j.still("the run to resume", func() *part { return j.find("Resume") })
	j.picture("runs")
	j.click("Resume")
	j.until("the run continuing", func() bool { return j.find("running") != nil })
	j.click("Changes")
	for _, cycle := range []int{4, 7, 10} { // each takes some 10 s
		j.until("more of the run", func() bool { return j.cycle() >= cycle && j.active() >= 20 })
	}
	j.click("Overview")
	j.picture("live")
	j.click("Agents")
	j.look.reveal(j.desktop, "the agents", 3./4, func() *part { return j.kind("crowd.Grid") })
	grid := j.still("the agents", func() *part { return j.kind("crowd.Grid") })
	j.press(grid.Box.Min.X+grid.Box.Dx()/3, grid.Box.Min.Y+min(grid.Box.Dy(), j.look.height*9/10-grid.Box.Min.Y)/3)
	j.until("one agent, among many at work", func() bool {
		b := j.find("Copy as JSON")
		return b != nil && !b.Disabled && j.active() >= 20
	})
	j.picture("agents")

	j.until("nearly all of the run", func() bool { return j.cycle() >= 14 || j.find("Show results") != nil })
	j.until("the end", func() bool { return j.find("Show results") != nil })
	j.click("Show results")
	j.until("results", func() bool { return j.shows("the result is") })
	j.picture("results")
	j.xdotool("key", "ctrl+q")
	j.ended()
}

// begin starts two runs in the store that the window opens: a short one to its end, and the run of the pictures, which is
// then stopped.
func (j journey) begin() {
	j.t.Helper()
	program := filepath.Join(j.t.TempDir(), "throngctl")
	build := exec.CommandContext(j.t.Context(), "go", "build", "-tags", buildTags(), "-o", program, "github.com/throng-sim/throng/cmd/throngctl")
	if out, err := build.CombinedOutput(); err != nil {
		j.t.Fatalf("build the terminal program: %v\n%s", err, out)
	}
	ctl := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(j.t.Context(), program, args...)
		cmd.Env = []string{"HOME=" + j.home}
		return cmd
	}
	if out, err := ctl("run", "shopping", "--cycles", "4").CombinedOutput(); err != nil {
		j.t.Fatalf("the first run: %v\n%s", err, out)
	}
	run := ctl(begun...)
	if err := run.Start(); err != nil {
		j.t.Fatal(err)
	}
	j.until("the run in progress", func() bool { return ctl("checkpoint").Run() == nil })
	if err := run.Process.Signal(os.Interrupt); err != nil {
		j.t.Fatal(err)
	}
	_ = run.Wait() // its exit code says that it was interrupted
}

// picture takes a screenshot for the README with 256 colors: the window uses at most as many, and the file is a fifth of the size.
func (j journey) picture(name string) {
	j.t.Helper()
	if j.suffix != "" && name != "live" {
		return
	}
	j.xdotool("mousemove", "1278", "798", "sleep", "0.6") // the pointer is over nothing, and the next frame draws the loaded data
	path := filepath.Join("..", "..", "..", "assets", "pictures", name+j.suffix+".png")
	cmd := exec.CommandContext(j.t.Context(), "import", "-window", "root", "-strip", "+dither", "-colors", "256", "-define", "png:compression-level=9", "PNG8:"+path)
	cmd.Env = append(os.Environ(), "DISPLAY="+j.display)
	if out, err := cmd.CombinedOutput(); err != nil {
		j.t.Fatalf("take a picture: %v\n%s", err, out)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 250_000 {
		j.t.Errorf("%s: %v, %v", path, info.Size(), err)
	}
}
