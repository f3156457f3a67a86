package window_test

import (
	"bytes"
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
	dir   string
	began time.Time
}

// TestPackage installs and uses the Debian package in the root of a fresh system, which has only the package's dependencies
// and the tools that open files by type: `make try-package`. THRONG_ROOT is the folder of a fresh root to copy, instead of
// creating one.
func TestPackage(t *testing.T) {
	deb := os.Getenv("THRONG_PACKAGE")
	if deb == "" {
		t.Skip("THRONG_PACKAGE names no package: make try-package does")
	}
	if os.Geteuid() != 0 {
		t.Skip("creating a root file system requires root")
	}
	t.Setenv("DEBIAN_FRONTEND", "noninteractive")
	r := &cleanRoot{desktop: &desktop{t: t}, dir: filepath.Join(t.TempDir(), "root"), began: time.Now()}
	r.home = filepath.Join(r.dir, annHome)
	r.startX(1280, 800)
	r.create()
	r.host("cp", deb, filepath.Join(r.dir, "throng.deb"))
	r.system("apt-get", "install", "-y", "--no-install-recommends", "/throng.deb")
	owned := strings.Fields(r.system("dpkg-query", "-L", "throng"))
	r.step("installed %s with %s", filepath.Base(deb), r.system("dpkg-query", "-W", "-f", "${Depends}", "throng"))
	if missing := r.system("sh", "-c", "ldd /usr/bin/throng /usr/bin/throngctl | grep 'not found' || :"); missing != "" {
		t.Errorf("missing: %s", missing)
	}

	r.open("launch", "/usr/share/applications/io.github.throng-sim.throng.desktop")
	r.step("started from the desktop entry, first frame after %v", r.painted().Round(time.Millisecond))
	r.until("the built-in scenario", func() bool { return r.shows("8,928 sessions") })
	r.shot("package")
	r.terminate()
	r.open("launch", "/usr/share/applications/io.github.throng-sim.throng.desktop")
	r.step("started again, first frame after %v", r.painted().Round(time.Millisecond))

	r.click("Launch")
	r.until("two cycles", func() bool { return r.cycle() >= 3 })
	r.step("ran to its third cycle")
	r.signal(syscall.SIGKILL)
	r.step("killed")

	r.user("sh", "-c", "cp /tmp/one.throng.yaml ~/one.throng.yaml")
	if kind := r.user("gio", "info", "-a", "standard::content-type", annHome+"/one.throng.yaml"); !strings.Contains(kind, "application/x-throng-scenario") {
		t.Errorf("a scenario has type %s", kind)
	}
	r.open("open", annHome+"/one.throng.yaml")
	r.until("the scenario that was opened", func() bool { return r.shows("Opened by a double-click") })
	r.step("opened a scenario by its type")
	r.shot("package-opened")
	r.until("the offer to resume", func() bool { return r.shows("was interrupted") })
	r.click("Resume")
	r.until("the end", func() bool { return r.find("Show results") != nil })
	r.step("resumed, and ran to its end")
	r.click("Show results")
	r.until("its results", func() bool { return r.shows("All 6 criteria met") && r.find("Audit") != nil })
	r.shot("package-results")
	r.terminate()

	r.user("throngctl", "audit")
	r.user("throngctl", "export", "-o", annHome+"/out")
	lines := bytes.Count([]byte(r.user("cat", annHome+"/out/sessions.csv")), []byte("\n"))
	if lines != 24*372+1 {
		t.Errorf("sessions.csv has %d lines", lines)
	}
	r.step("audited and exported in a terminal: %d lines", lines)
	r.terminal()
	r.user("throngctl", "run", "shopping", "--cycles", "3", "--seed", "7", "--data", annHome+"/other")
	r.step("ran three cycles in a terminal")

	r.system("apt-get", "remove", "-y", "throng")
	r.nothingLeft(owned)
	r.step("removed; what ann made is there still")
}

// annHome is the home of the user in the new root.
const annHome = "/srv/ann"

// terminal tries the package's terminal commands other than runs: a report, the manual, completion, licenses.
func (r *cleanRoot) terminal() {
	r.user("throngctl", "report", "-o", annHome+"/report.html")
	if page := r.user("cat", annHome+"/report.html"); !strings.Contains(page, "<svg") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
		r.t.Errorf("the report has no charts, or no end: %d bytes", len(page))
	}
	if manual := r.system("zcat", "/usr/share/man/man1/throngctl.1.gz"); !strings.HasPrefix(manual, `.TH "THRONGCTL" "1"`) {
		r.t.Errorf("the manual begins with %.60q", manual)
	}
	const completes = `. /usr/share/bash-completion/completions/throngctl; COMP_WORDS=(throngctl rep); COMP_CWORD=1; _throngctl; echo "${COMPREPLY[@]}"`
	if words := strings.Fields(r.user("bash", "-c", completes)); !slices.Contains(words, "report") {
		r.t.Errorf("completion of rep: got %q", words)
	}
	if terms := r.system("cat", "/usr/share/doc/throng/copyright"); !strings.Contains(terms, "SQLite") || !strings.Contains(terms, "SIL OPEN FONT LICENSE") {
		r.t.Errorf("licenses are missing in the %d bytes of the copyright file", len(terms))
	}
	r.step("wrote a report; the manual, completion and licenses are there")
}

// create makes the root: a minimal system with the tools that open files by type, and a user.
func (r *cleanRoot) create() {
	if ready := os.Getenv("THRONG_ROOT"); ready != "" {
		r.host("cp", "-a", ready, r.dir)
	} else {
		// The mirror and release of this system.
		target := strings.Fields(r.host("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"))
		codename := strings.TrimSpace(r.host("sh", "-c", `. /etc/os-release && echo "$VERSION_CODENAME"`))
		mirror := ""
		for i := 0; i+1 < len(target); i += 2 {
			if u, err := url.Parse(target[i]); err == nil && target[i+1] == codename && (strings.Contains(u.Path, "debian") || strings.Contains(u.Path, "ubuntu")) {
				mirror = target[i]
			}
		}
		r.host("debootstrap", "--variant=minbase", codename, r.dir, mirror)
	}
	r.host("mount", "-t", "proc", "proc", filepath.Join(r.dir, "proc"))
	r.t.Cleanup(r.leave)
	r.host("cp", "/etc/resolv.conf", filepath.Join(r.dir, "etc"))
	r.system("apt-get", "update")
	r.system("apt-get", "install", "-y", "--no-install-recommends", "libglib2.0-bin", "desktop-file-utils", "shared-mime-info")
	r.system("useradd", "-m", "-d", annHome, "ann")
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

// leave ends the processes in the root and unmounts the system's folder in it. The devices are the root's own, so removing
// a root that was not left does not remove the system's.
func (r *cleanRoot) leave() {
	for _, pid := range r.programs() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err := syscall.Unmount(filepath.Join(r.dir, "proc"), syscall.MNT_DETACH); err != nil {
		r.t.Errorf("unmount %s/proc: %v", r.dir, err)
	}
}

// step logs what was done and how long it took.
func (r *cleanRoot) step(format string, args ...any) {
	fmt.Printf("%6.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
	r.began = time.Now()
}

func (r *cleanRoot) host(name string, args ...string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), name, args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// system runs a command in the root as its administrator.
func (r *cleanRoot) system(args ...string) string {
	r.t.Helper()
	return r.host("chroot", append([]string{r.dir}, args...)...)
}

// bare returns a command of the user in the root, with only a home folder and a display in its environment.
func (r *cleanRoot) bare(args ...string) []string {
	return append([]string{
		"--userspec=ann", r.dir, "/usr/bin/env", "-i", "-C", "/", "HOME=" + annHome, "PATH=/usr/bin:/bin", "DISPLAY=" + r.display,
		"THRONG_INSPECT=" + annHome + "/inspect",
	}, args...)
}

func (r *cleanRoot) user(args ...string) string {
	r.t.Helper()
	return r.host("chroot", r.bare(args...)...)
}

// open starts the program through the desktop's library, and waits for its window.
func (r *cleanRoot) open(how, what string) {
	r.t.Helper()
	r.socket, r.log = filepath.Join(r.home, "inspect"), &output{}
	for _, left := range []string{r.socket, r.socket + ".process"} {
		_ = os.Remove(left) // of a program that was killed
	}
	r.started = time.Now()
	r.cmd = exec.Command("chroot", r.bare("gio", how, what)...) //nolint:noctx // it may end before the program does
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.until("the window", func() bool { return r.find("Setup") != nil && r.painted() > 0 })
}

// programs returns the processes of the window's program in the root.
func (r *cleanRoot) programs() (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		var pid int
		if exe, err := os.Readlink(link); err == nil && exe == filepath.Join(r.dir, "usr", "bin", "throng") {
			if _, err := fmt.Sscanf(link, "/proc/%d/exe", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// signal sends the program a signal and waits for its end.
func (r *cleanRoot) signal(s syscall.Signal) {
	r.t.Helper()
	pids := r.programs()
	if len(pids) != 1 {
		r.t.Fatalf("%d processes of the program", len(pids))
	}
	if err := syscall.Kill(pids[0], s); err != nil {
		r.t.Fatal(err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for len(r.programs()) > 0 {
		select {
		case <-tick.C:
		case <-late:
			r.t.Fatalf("the program did not end:\n%s", r.log)
		}
	}
	_ = r.cmd.Wait()
	r.shown = nil
}

func (r *cleanRoot) terminate() {
	r.t.Helper()
	r.signal(syscall.SIGTERM)
}

// nothingLeft checks that removing the package left no files and no entries in the databases of the desktop.
func (r *cleanRoot) nothingLeft(owned []string) {
	for _, path := range owned {
		if info, err := os.Lstat(filepath.Join(r.dir, path)); err == nil && !info.IsDir() {
			r.t.Errorf("%s was not removed", path)
		}
	}
	if left := r.system("sh", "-c", "grep -rl throng /usr/share/applications /usr/share/mime /usr/share/icons /usr/share/doc/throng 2>/dev/null || :"); left != "" {
		r.t.Errorf("files that still name the program:\n%s", left)
	}
	if left := r.system("find", "/", "-xdev", "-iname", "*throng*", "-not", "-path", annHome+"/*", "-not", "-path", "/proc/*", "-not", "-path", "/tmp/*"); strings.TrimSpace(left) != "/throng.deb" {
		r.t.Errorf("files with the program's name:\n%s", left)
	}
	if _, err := os.Stat(filepath.Join(r.home, ".local", "share", "throng", "throng.db")); err != nil {
		r.t.Error(err)
	}
}
