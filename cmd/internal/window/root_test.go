package window_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cleanRoot is the root of a fresh system with a desktop that shows its programs.
type cleanRoot struct {
	*desktop
	dir    string
	prefix string // of the installed program: /usr or /usr/local
	began  time.Time
}

// The user in the root: the home, and the numbers of user and group.
const (
	annHome = "/srv/ann"
	ann     = "1000:1000"
)

// newRoot returns the root in a folder, which need not exist yet.
func newRoot(t *testing.T, dir string) *cleanRoot {
	r := &cleanRoot{desktop: &desktop{t: t, log: &output{}}, dir: dir, began: time.Now()}
	r.home = filepath.Join(dir, annHome)
	return r
}

// create makes the root: a minimal system with the tools that open files by type and check metadata, and a user.
// THRONG_ROOT is the folder of a minimal system to copy, instead of creating one.
func (r *cleanRoot) create() {
	if ready := os.Getenv("THRONG_ROOT"); ready != "" {
		r.host("cp", "-a", ready, r.dir)
	} else {
		// The mirror and release of this system.
		target := strings.Fields(r.host("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"))
		system := strings.Fields(r.host("sh", "-c", `. /etc/os-release && echo "$ID $VERSION_CODENAME"`))
		mirror, components := "", "main"
		for i := 0; i+1 < len(target); i += 2 {
			if u, err := url.Parse(target[i]); err == nil && target[i+1] == system[1] && (strings.Contains(u.Path, "debian") || strings.Contains(u.Path, "ubuntu")) {
				mirror = target[i]
			}
		}
		if system[0] == "ubuntu" {
			components = "main,universe" // the managers of other systems are in universe
		}
		r.host("debootstrap", "--variant=minbase", "--components="+components, system[1], r.dir, mirror)
	}
	unmount := r.mount()
	defer unmount()
	r.host("cp", "/etc/resolv.conf", filepath.Join(r.dir, "etc"))
	r.system("apt-get", "update")
	r.system("apt-get", "install", "-y", "--no-install-recommends", "libglib2.0-bin", "desktop-file-utils", "shared-mime-info", "appstream")
	r.system("useradd", "-u", "1000", "-m", "-d", annHome, "ann")
	if err := os.WriteFile(filepath.Join(r.dir, "tmp", "one.throng.yaml"), []byte(oneScenario), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.step("made a root: %s", r.system("sh", "-c", `. /etc/os-release && printf %s "$PRETTY_NAME"`))
}

const oneScenario = `title: Opened by a double-click
population: {count: 3}
chain wait:
  steps:
    - {name: wait, kind: wait, for: 1s}
`

// mount mounts the system's folder of processes in the root. At the end of the test, or when the result is called, it ends the
// programs in the root and unmounts. The devices are the root's own, so removing a root that was not left does not remove the
// system's.
func (r *cleanRoot) mount() (leave func()) {
	r.host("mount", "-t", "proc", "proc", filepath.Join(r.dir, "proc"))
	left := false
	leave = func() {
		if left {
			return
		}
		left = true
		for _, pid := range r.programs() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err := syscall.Unmount(filepath.Join(r.dir, "proc"), syscall.MNT_DETACH); err != nil {
			r.t.Errorf("unmount %s/proc: %v", r.dir, err)
		}
	}
	r.t.Cleanup(leave)
	return leave
}

// step logs what was done and how long it took.
func (r *cleanRoot) step(format string, args ...any) {
	fmt.Printf("%6.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
	r.began = time.Now()
}

func (r *cleanRoot) host(name string, args ...string) string {
	r.t.Helper()
	return r.output(exec.CommandContext(r.t.Context(), name, args...))
}

// system runs a command in the root as its administrator.
func (r *cleanRoot) system(args ...string) string {
	r.t.Helper()
	return r.host("chroot", append([]string{r.dir}, args...)...)
}

// bare returns a command of the user in the root, with only a home folder and a display in its environment.
func (r *cleanRoot) bare(args ...string) *exec.Cmd {
	cmd := exec.Command("chroot", append([]string{"--userspec=" + ann, r.dir}, args...)...) //nolint:noctx // it may end before the program does
	cmd.Env = []string{"HOME=" + annHome, "PATH=/usr/local/bin:/usr/bin:/bin", "DISPLAY=" + r.display, "THRONG_INSPECT=" + annHome + "/inspect"}
	return cmd
}

func (r *cleanRoot) user(args ...string) string {
	r.t.Helper()
	return r.output(r.bare(args...))
}

func (r *cleanRoot) output(cmd *exec.Cmd) string {
	r.t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// read returns a file of the root.
func (r *cleanRoot) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// open starts the program through the desktop's library, and waits for its window.
func (r *cleanRoot) open(how, what string) {
	r.t.Helper()
	r.socket, r.log = filepath.Join(r.home, "inspect"), &output{}
	for _, left := range []string{r.socket, r.socket + ".process"} {
		_ = os.Remove(left) // of a program that was killed
	}
	r.started = time.Now()
	r.cmd = r.bare("gio", how, what)
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.until("the window", func() bool { return r.find("Setup") != nil && r.painted() > 0 })
}

// programs returns the processes of the installed programs in the root.
func (r *cleanRoot) programs() (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		var pid int
		if exe, err := os.Readlink(link); err == nil && strings.HasPrefix(exe, filepath.Join(r.dir, r.prefix, "bin", "throng")) {
			if _, err := fmt.Sscanf(link, "/proc/%d/exe", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// signal sends the only program a signal and waits for its end.
func (r *cleanRoot) signal(s syscall.Signal) {
	r.t.Helper()
	pids := r.programs()
	if len(pids) != 1 {
		r.t.Fatalf("%d processes of the program", len(pids))
	}
	if err := syscall.Kill(pids[0], s); err != nil {
		r.t.Fatal(err)
	}
	r.wait("the end of the program", func() bool { return len(r.programs()) == 0 })
	_ = r.cmd.Wait()
	r.shown = nil
}

// wait waits for a condition without looking at the window.
func (r *cleanRoot) wait(what string, holds func() bool) {
	r.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			r.t.Fatalf("not within %s: %s\n%s", patience, what, r.log)
		}
	}
}

// newest returns the path of the newest file with an ending in a folder.
func newest(t *testing.T, folder, ending string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"+ending))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no %s: make package image", folder, ending)
	}
	return slices.MaxFunc(paths, func(a, b string) int { return modified(t, a).Compare(modified(t, b)) })
}

func modified(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
