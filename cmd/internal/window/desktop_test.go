// Package window_test drives the built program in a real window, like a user. It is not next to cmd/throng, so that testing
// does not link the toolkit a second time.
package window_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long any change may take to appear.
const patience = 2 * time.Minute

// part is an object that the window shows; see ui/internal/inspect.
type part struct {
	Kind, Text string
	Box        image.Rectangle // in pixels of the window
	Disabled   bool
}

// center returns the middle of the part.
func (p *part) center() (x, y int) {
	return (p.Box.Min.X + p.Box.Max.X) / 2, (p.Box.Min.Y + p.Box.Max.Y) / 2
}

// desktop is a display of its own with the program's window.
type desktop struct {
	t       *testing.T
	display string
	program string
	home    string
	x       *exec.Cmd // the display
	cmd     *exec.Cmd
	started time.Time
	socket  string
	log     *output
	shown   []part // at the last look
}

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// built builds the program, once for all tests, and returns its path. It is next to the test's program, in a folder that go test
// removes.
var built = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path, args := self+".throng", []string{"build", "-o", self + ".throng"}
	if tags := buildTags(); tags != "" {
		args = append(args, "-tags", tags)
	}
	build := exec.CommandContext(context.Background(), "go", append(args, "github.com/throng-sim/throng/cmd/throng")...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// newDesktop starts a display, for a copy of the program. Tests are skipped where a window cannot be driven, except on the
// project's own machines.
func newDesktop(t *testing.T, width, height int) *desktop {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("the window is driven through X; not on %s", runtime.GOOS)
	}
	for _, tool := range []string{"Xvfb", "xdotool", "import"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skipf("%v: `make test` installs it", err)
		}
	}
	d := &desktop{t: t, home: t.TempDir(), program: filepath.Join(t.TempDir(), "throng")}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(d.program, text, 0o700) //nolint:gosec // a program
	}
	if err != nil {
		t.Fatal(err)
	}
	d.startX(width, height)
	return d
}

// buildTags returns the build tags of this test: with another set, everything would be built again.
func buildTags() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}

// startX starts a display, which chooses its own number.
func (d *desktop) startX(width, height int) {
	d.t.Helper()
	number, write, err := os.Pipe()
	if err != nil {
		d.t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", width, height), "-nolisten", "tcp", "-noreset", "-r") //nolint:noctx // ends with the test
	x.ExtraFiles = []*os.File{write}
	if err := x.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	_ = write.Close()
	line, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		d.t.Fatalf("Xvfb did not start: %v", err)
	}
	d.x, d.display = x, ":"+strings.TrimSpace(line)
}

// start starts the program as a double-click does: in /, with only the home folder and the display in the environment. An
// argument without = is a file to open. The first start shows Setup, others the last screen.
func (d *desktop) start(env ...string) {
	d.t.Helper()
	d.socket = filepath.Join(d.t.TempDir(), "inspect")
	d.log = &output{}
	d.cmd = exec.Command(d.program) //nolint:noctx // ended by the test
	d.cmd.Dir = "/"
	d.cmd.Env = []string{"HOME=" + d.home, "DISPLAY=" + d.display, "THRONG_INSPECT=" + d.socket}
	for _, one := range env {
		if strings.Contains(one, "=") {
			d.cmd.Env = append(d.cmd.Env, one)
		} else {
			d.cmd.Args = append(d.cmd.Args, one)
		}
	}
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.started = time.Now()
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	d.until("the window", func() bool { return d.find("Setup") != nil })
}

// ended waits for the program to end and returns its exit code.
func (d *desktop) ended() int {
	d.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = d.cmd.Wait() // the process state has the details
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		_ = d.cmd.Process.Signal(syscall.SIGQUIT)
		<-done
		d.t.Fatalf("the program did not end:\n%s", d.log)
	}
	if strings.Contains(d.log.String(), "Error in Fyne call thread") {
		d.t.Errorf("the toolkit was called on a wrong goroutine:\n%s", d.log)
	}
	return d.cmd.ProcessState.ExitCode()
}

// look reads what the program shows.
func (d *desktop) look() {
	conn, err := net.Dial("unix", d.socket) //nolint:noctx // answers or fails immediately
	if err != nil {
		return // the socket does not exist yet
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		d.t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		_ = d.cmd.Process.Signal(syscall.SIGQUIT) // prints the stacks
		_ = d.cmd.Wait()
		d.t.Fatalf("the window does not respond: %v\n%s", err, d.log)
	}
	d.shown = nil
	if err := json.Unmarshal(text, &d.shown); err != nil {
		d.t.Fatalf("%v in %q", err, text)
	}
}

// vitals are the program's measurements at the last look.
type vitals struct {
	goroutines int
	heap       int64         // bytes
	waited     time.Duration // by a call, for the UI goroutine
}

func (d *desktop) vitals() (v vitals) {
	d.t.Helper()
	for _, p := range d.shown {
		var waited int64
		if p.Kind != "process" {
			continue
		}
		if _, err := fmt.Sscanf(p.Text, "goroutines %d heap %d waited %d", &v.goroutines, &v.heap, &waited); err != nil {
			d.t.Fatal(err)
		}
		v.waited = time.Duration(waited) * time.Microsecond
	}
	return v
}

// painted returns the time from the start of the program to its first frame, or 0 before that.
func (d *desktop) painted() time.Duration {
	for _, p := range d.shown {
		var at int64
		if found := strings.Index(p.Text, "painted "); p.Kind == "process" && found >= 0 {
			if _, err := fmt.Sscanf(p.Text[found:], "painted %d", &at); err == nil && at != 0 {
				return time.UnixMicro(at).Sub(d.started)
			}
		}
	}
	return 0
}

// until looks repeatedly until a condition holds.
func (d *desktop) until(what string, holds func() bool) {
	d.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		d.look()
		if holds() {
			return
		}
		select {
		case <-tick.C:
		case <-late.C:
			d.shot("failed")
			d.t.Fatalf("not within %s: %s\nshown: %q\nlog: %s", patience, what, d.texts(), d.log)
		}
	}
}

func (d *desktop) texts() []string {
	var all []string
	for _, p := range d.shown {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return all
}

// shows reports whether a text is visible, alone or within other text.
func (d *desktop) shows(text string) bool {
	return strings.Contains(strings.Join(d.texts(), "\n"), text)
}

// find returns the last part with exactly that text: the topmost part comes last.
func (d *desktop) find(text string) *part {
	for i := len(d.shown) - 1; i >= 0; i-- {
		if d.shown[i].Text == text {
			return &d.shown[i]
		}
	}
	return nil
}

// kind returns the first part of a type.
func (d *desktop) kind(kind string) *part {
	for i := range d.shown {
		if strings.HasSuffix(d.shown[i].Kind, kind) {
			return &d.shown[i]
		}
	}
	return nil
}

func (d *desktop) xdotool(args ...string) (out string) {
	d.t.Helper()
	out, err := d.drive("", args...)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// drive runs xdotool with the arguments, or with the lines of a text where the argument is -.
func (d *desktop) drive(lines string, args ...string) (out string, err error) {
	cmd := exec.CommandContext(d.t.Context(), "xdotool", args...)
	cmd.Env = append(os.Environ(), "DISPLAY="+d.display)
	cmd.Stdin = strings.NewReader(lines)
	all, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("xdotool %q: %w\n%s", args, err, all)
	}
	return string(all), nil
}

// windows counts the open windows of the program without the guide's.
func (d *desktop) windows() int { return d.open("^Throng") }

// open counts the windows with a name.
func (d *desktop) open(name string) int {
	d.t.Helper()
	out, _ := d.drive("", "search", "--onlyvisible", "--name", name) // an error means that there is no such window
	return len(strings.Fields(out))
}

// place returns the position of the first window as xdotool prints it.
func (d *desktop) place() string {
	return d.xdotool("search", "--name", "^Throng$", "getwindowgeometry", "--shell")
}

// click waits for a part with a text that can be clicked, and clicks it.
func (d *desktop) click(text string) {
	d.t.Helper()
	p := d.still(text+", to click on", func() *part { return d.find(text) })
	d.press(p.center())
}

// still waits for a part that is enabled and no longer moves.
func (d *desktop) still(what string, find func() *part) (p part) {
	d.t.Helper()
	d.until(what, func() bool {
		found := find()
		if found == nil || found.Disabled {
			return false
		}
		rests := p == *found
		p = *found
		return rests
	})
	return p
}

func (d *desktop) press(x, y int) {
	d.t.Helper()
	// The toolkit must see the pointer before the button is pressed.
	d.xdotool("mousemove", strconv.Itoa(x), strconv.Itoa(y), "sleep", "0.2", "click", "1")
}

// drag moves the pointer while its button is pressed, in steps as a hand does.
func (d *desktop) drag(x, y, toX, toY int) {
	d.t.Helper()
	args := []string{"mousemove", strconv.Itoa(x), strconv.Itoa(y), "sleep", "0.2", "mousedown", "1"}
	const steps = 12
	for i := 1; i <= steps; i++ {
		args = append(args, "mousemove", strconv.Itoa(x+(toX-x)*i/steps), strconv.Itoa(y+(toY-y)*i/steps), "sleep", "0.03")
	}
	d.xdotool(append(args, "mouseup", "1")...)
}

// command performs an action that the command palette finds by a part of its name.
func (d *desktop) command(name string) {
	d.t.Helper()
	d.xdotool("key", "ctrl+k")
	d.until("the palette", func() bool { return d.find("Actions") != nil })
	d.xdotool("type", name)
	d.xdotool("sleep", "0.2", "key", "Return")
}

// shot saves a screenshot of the display in bin/screens, which git ignores.
func (d *desktop) shot(name string) {
	d.t.Helper()
	dir := filepath.Join("..", "..", "..", "bin", "screens")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command("import", "-window", "root", filepath.Join(dir, name+".png")) //nolint:noctx // also after the test has failed
	cmd.Env = append(os.Environ(), "DISPLAY="+d.display)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("take a picture: %v\n%s", err, out)
	}
}
