package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// desktop is a separate display with the program's window.
type desktop struct {
	dir     string // home and data of the program
	display string
	x, cmd  *exec.Cmd
	began   time.Time // when the program was started
	shown   []object  // at the last look
	vitals  vitals
}

// object is an object in the window; see ui/internal/inspect.
type object struct {
	Kind, Text string
	Box        image.Rectangle // in pixels of the window
	Disabled   bool
}

// vitals are process statistics, as ui/internal/inspect writes them.
type vitals struct {
	goroutines int
	heap       int64
	waited     time.Duration
	painted    time.Time
}

// patience is the timeout for anything to appear.
const patience = time.Minute

// program builds the program once, with the tags of this one, and returns its path.
func (e env) program(ctx context.Context) (path string, err error) {
	if runtime.GOOS != "linux" {
		return "", missingError("the window is driven through X, on Linux only")
	}
	for _, tool := range []string{"Xvfb", "xdotool"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", missingError(tool + " is not installed; make setup-test does")
		}
	}
	path = filepath.Join(e.tools, "throng")
	return path, e.build(ctx, "build", "-o", path, "./cmd/throng")
}

// build runs go build for a package of this repository, with the tags of this program.
func (e env) build(ctx context.Context, what string, args ...string) error {
	all := []string{what}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				all = append(all, "-tags", s.Value)
			}
		}
	}
	out, err := exec.CommandContext(ctx, "go", append(all, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", what, err, out)
	}
	return nil
}

// openDesktop starts a display, which picks its number.
func openDesktop(ctx context.Context, dir string, width, height int) (*desktop, error) {
	number, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = number.Close() }()
	x := exec.CommandContext(ctx, "Xvfb", "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", width, height), "-nolisten", "tcp", "-noreset")
	x.ExtraFiles = []*os.File{write}
	err = x.Start()
	_ = write.Close()
	if err != nil {
		return nil, err
	}
	d := &desktop{dir: dir, x: x}
	line, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		d.close()
		return nil, fmt.Errorf("start Xvfb: %w", err)
	}
	d.display = ":" + strings.TrimSpace(line)
	return d, nil
}

// close ends the program and the display.
func (d *desktop) close() {
	for _, c := range []*exec.Cmd{d.cmd, d.x} {
		if c != nil && c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
}

// quit ends the program with a signal, which closes its store.
func (d *desktop) quit() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.cmd.Wait()
}

// start starts the program with a data folder, and returns when its Launch button is shown.
func (d *desktop) start(ctx context.Context, program, data string, args ...string) error {
	socket := filepath.Join(d.dir, "inspect")
	for _, old := range []string{socket, socket + ".process"} { // of the previous program
		_ = os.Remove(old)
	}
	d.cmd = exec.CommandContext(ctx, program, args...)
	d.cmd.Env = []string{"HOME=" + d.dir, "DISPLAY=" + d.display, "THRONG_INSPECT=" + socket, "THRONG_DATA=" + data}
	d.cmd.Stderr = os.Stderr
	d.began = time.Now()
	if err := d.cmd.Start(); err != nil {
		return err
	}
	return d.until(ctx, "Launch", func() bool { return d.find("Launch") != nil && !d.vitals.painted.IsZero() })
}

// look reads the objects in the window.
func (d *desktop) look(ctx context.Context) error {
	shown, err := d.ask(ctx, "inspect")
	if err == nil {
		d.shown = shown
	}
	return err
}

// feel reads the process statistics. Listing objects takes the UI goroutine longer than drawing them.
func (d *desktop) feel(ctx context.Context) error {
	_, err := d.ask(ctx, "inspect.process")
	return err
}

func (d *desktop) ask(ctx context.Context, socket string) (shown []object, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", filepath.Join(d.dir, socket))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := json.NewDecoder(conn).Decode(&shown); err != nil {
		return nil, err
	}
	var waited, painted int64
	v := &d.vitals
	if _, err := fmt.Sscanf(shown[len(shown)-1].Text, "goroutines %d heap %d waited %d painted %d", &v.goroutines, &v.heap, &waited, &painted); err != nil {
		return nil, err
	}
	v.waited = time.Duration(waited) * time.Microsecond
	if painted != 0 {
		v.painted = time.UnixMicro(painted)
	}
	return shown, nil
}

// until polls until a condition holds.
func (d *desktop) until(ctx context.Context, what string, holds func() bool) error {
	late := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := d.look(ctx)
		if err == nil && holds() {
			return nil
		}
		if time.Now().After(late) {
			return errors.Join(fmt.Errorf("the window does not show %s after %s", what, patience), err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// find returns the last object with exactly that text: the topmost.
func (d *desktop) find(text string) *object {
	for i := len(d.shown) - 1; i >= 0; i-- {
		if d.shown[i].Text == text {
			return &d.shown[i]
		}
	}
	return nil
}

// click waits for a clickable object with a text to stand still, and clicks it.
func (d *desktop) click(ctx context.Context, text string) error {
	var p object
	err := d.until(ctx, text+", to click on", func() bool {
		found := d.find(text)
		if found == nil || found.Disabled {
			return false
		}
		rests := p == *found
		p = *found
		return rests
	})
	if err != nil {
		return err
	}
	// The toolkit must see the pointer before the click.
	c := exec.CommandContext(ctx, "xdotool", "mousemove", strconv.Itoa((p.Box.Min.X+p.Box.Max.X)/2), strconv.Itoa((p.Box.Min.Y+p.Box.Max.Y)/2), "sleep", "0.2", "click", "1")
	c.Env = append(os.Environ(), "DISPLAY="+d.display)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("xdotool: %w\n%s", err, out)
	}
	return nil
}

// drawing returns the CPU time of the program's first thread, which runs the UI goroutine, and of the display driver's
// threads, which replace a graphics card. Only these have other names than the program.
func (d *desktop) drawing() (all time.Duration, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	first := fmt.Sprint(d.cmd.Process.Pid)
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil { // the thread has ended
			continue
		}
		head, after, _ := strings.Cut(string(text), ") ")
		id, name, _ := strings.Cut(head, " (")
		if id != first && name == filepath.Base(d.cmd.Path) {
			continue
		}
		fields := strings.Fields(after)
		for _, ticks := range fields[11:13] { // in user and in system mode
			n, err := strconv.Atoi(ticks)
			if err != nil {
				return 0, err
			}
			const second = 100 // ticks, on Linux
			all += time.Duration(n) * time.Second / second
		}
	}
	return all, nil
}
