package window_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// appID names the desktop entry and the icons of the program.
const appID = "io.github.throng-sim.throng"

// TestPackages installs, uses and removes each package, in the root of a fresh system of its own, which has only the package's
// dependencies, the package manager, and the tools that open files by type: `make try-package`. The same run has the same results
// with all packages.
func TestPackages(t *testing.T) {
	dist := os.Getenv("THRONG_PACKAGES")
	if dist == "" {
		t.Skip("THRONG_PACKAGES names no folder of packages: make try-package does")
	}
	if os.Geteuid() != 0 {
		t.Skip("creating a root file system requires root")
	}
	t.Setenv("DEBIAN_FRONTEND", "noninteractive")
	fresh := newRoot(t, filepath.Join(t.TempDir(), "root"))
	fresh.create()
	results := map[string]string{}
	for _, p := range packagers {
		t.Run(p.name, func(t *testing.T) {
			r := newRoot(t, filepath.Join(t.TempDir(), "root"))
			r.host("cp", "-a", fresh.dir, r.dir)
			r.mount()
			r.startX(1280, 800)
			r.install(p, dist)
			r.metadata()
			results[p.name+" window"] = r.window(p)
			r.documents(p)
			results[p.name+" terminal"] = r.terminal()
			r.remove(p)
		})
	}
	t.Run("Alpine", func(t *testing.T) {
		r := newRoot(t, filepath.Join(t.TempDir(), "root"))
		r.unpack(dist)
		results["Alpine terminal"] = r.terminal()
	})
	for name, got := range results {
		if want := results["Debian window"]; got != want || strings.Count(got, "\n") != 24*372+1 {
			t.Errorf("%s: %d bytes of results, want the %d of the window on Debian", name, len(got), len(want))
		}
	}
}

// metadata checks what desktops and software centers read: the desktop entry, the icons and the metadata.
func (r *cleanRoot) metadata() {
	share := r.prefix + "/share/"
	entry := share + "applications/" + appID + ".desktop"
	r.system("desktop-file-validate", entry)
	if text := r.read(entry); !strings.Contains(text, "\nIcon="+appID+"\n") {
		r.t.Errorf("the desktop entry:\n%s", text)
	}
	for _, icon := range []string{"16x16/apps/" + appID + ".png", "48x48/apps/" + appID + ".png", "512x512/apps/" + appID + ".png", "scalable/apps/" + appID + ".svg"} {
		if r.read(share+"icons/hicolor/"+icon) == "" {
			r.t.Errorf("the icon %s is empty", icon)
		}
	}
	r.system("appstreamcli", "validate", "--no-net", share+"metainfo/io.github.throng_sim.throng.metainfo.xml")
	r.step("checked the desktop entry, the icons and the metadata for software centers")
}

// window starts the program like a desktop, kills it in the middle of a run, resumes the run, and returns its results.
func (r *cleanRoot) window(p packager) string {
	entry := r.prefix + "/share/applications/" + appID + ".desktop"
	r.open("launch", entry)
	r.step("started from the desktop entry, first frame after %v", r.painted().Round(time.Millisecond))
	r.until("the built-in scenario", func() bool { return r.shows("8,928 sessions") })
	r.shot("package-" + p.name)
	r.terminate()
	r.open("launch", entry)
	r.step("started again, first frame after %v", r.painted().Round(time.Millisecond))

	r.click("Launch")
	r.until("two cycles", func() bool { return r.cycle() >= 3 })
	r.step("ran to its third cycle")
	r.signal(syscall.SIGKILL)
	r.step("killed")

	r.user("cp", "/tmp/one.throng.yaml", annHome+"/one.throng.yaml")
	if kind := r.user("gio", "info", "-a", "standard::content-type", annHome+"/one.throng.yaml"); !strings.Contains(kind, "application/x-throng-scenario") {
		r.t.Errorf("a scenario has type %s", kind)
	}
	r.open("open", annHome+"/one.throng.yaml")
	r.until("the scenario that was opened", func() bool { return r.shows("Opened by a double-click") })
	r.step("opened a scenario by its type")
	r.shot("package-" + p.name + "-opened")
	r.until("the offer to resume", func() bool { return r.shows("was interrupted") })
	r.click("Resume")
	r.until("the end", func() bool { return r.find("Show results") != nil })
	r.step("resumed, and ran to its end")
	r.click("Show results")
	r.until("its results", func() bool { return r.shows("All 6 criteria met") && r.find("Audit") != nil })
	r.shot("package-" + p.name + "-results")
	r.terminate()

	r.user("throngctl", "audit")
	r.user("throngctl", "export", "-o", annHome+"/out")
	r.step("audited and exported in a terminal")
	return r.read(annHome + "/out/sessions.csv")
}

// documents tries the package's terminal commands other than runs: a report, the manual, completion, licenses.
func (r *cleanRoot) documents(p packager) {
	r.user("throngctl", "report", "-o", annHome+"/report.html")
	if page := r.read(annHome + "/report.html"); !strings.Contains(page, "<svg") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
		r.t.Errorf("the report has no charts, or no end: %d bytes", len(page))
	}
	if manual := r.system("zcat", p.prefix+"/share/man/man1/throngctl.1.gz"); !strings.HasPrefix(manual, `.TH "THRONGCTL" "1"`) {
		r.t.Errorf("the manual begins with %.60q", manual)
	}
	completes := ". " + p.prefix + `/share/bash-completion/completions/throngctl; COMP_WORDS=(throngctl rep); COMP_CWORD=1; _throngctl; echo "${COMPREPLY[@]}"`
	if words := strings.Fields(r.user("bash", "-c", completes)); !slices.Contains(words, "report") {
		r.t.Errorf("completion of rep: got %q", words)
	}
	if terms := r.read(filepath.Join(p.prefix, p.license)); !strings.Contains(terms, "SQLite") || !strings.Contains(terms, "SIL OPEN FONT LICENSE") {
		r.t.Errorf("licenses are missing in the %d bytes of %s", len(terms), p.license)
	}
	r.step("wrote a report; the manual, completion and licenses are there")
}

// terminal runs a built-in scenario in a terminal, kills the program in the middle of the run, resumes the run, and returns its
// results.
func (r *cleanRoot) terminal() string {
	r.t.Helper()
	const data = "--data=" + annHome + "/terminal"
	r.cmd = r.bare("throngctl", "run", "shopping", data)
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.wait("two cycles in a terminal", func() bool {
		var status struct{ Cycle int }
		text, err := r.bare("throngctl", "status", "--json", data).Output()
		return err == nil && json.Unmarshal(text, &status) == nil && status.Cycle >= 2
	})
	_ = r.cmd.Process.Kill() // an error of Wait tells whether it did
	var exit *exec.ExitError
	if err := r.cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		r.t.Fatalf("the run ended before it was killed: %v\n%s", err, r.log)
	}
	r.user("throngctl", "resume", data)
	r.user("throngctl", "audit", data)
	r.user("throngctl", "export", "--what", "sessions", "-o", annHome+"/sessions.csv", data)
	r.step("ran, killed, resumed, audited and exported in a terminal")
	return r.read(annHome + "/sessions.csv")
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
	if left := r.system("sh", "-c", "grep -rl throng /usr/share/applications /usr/share/mime /usr/share/icons /usr/local 2>/dev/null || :"); left != "" {
		r.t.Errorf("files that still name the program:\n%s", left)
	}
	if left := r.system("find", "/", "-xdev", "-iname", "*throng*", "-not", "-path", annHome+"/*", "-not", "-path", "/tmp/*"); left != "" {
		r.t.Errorf("files with the program's name:\n%s", left)
	}
	if _, err := os.Stat(filepath.Join(r.home, ".local", "share", "throng", "throng.db")); err != nil {
		r.t.Error(err)
	}
}
