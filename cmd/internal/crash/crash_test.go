package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// dieEnv is the variable that selects how the test binary, started again, ends, and its data folder.
const dieEnv = "THRONG_CRASH_TEST"

func TestMain(m *testing.M) {
	what, data, found := strings.Cut(os.Getenv(dieEnv), " ")
	if !found {
		os.Exit(m.Run())
	}
	box, err := Open(data, "test")
	if err != nil {
		panic(err)
	}
	switch what {
	case "panic": // in a goroutine without a recover
		go func() { panic("an uncaught panic") }()
		select {}
	case "runtime": // an error that cannot be caught
		m := map[int]int{}
		for range 8 {
			go func() {
				for i := 0; ; i++ {
					m[i%10] = i
				}
			}()
		}
		select {}
	case "kill":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	case "caught":
		Conceal("hunter2!")
		box.Doing("run r-1: running, cycle 3 of 24")
		box.Keep(errors.New("cannot ask postgres://me:s3cret@db/x with hunter2!"), []byte("main.go:12"), "r-1")
		box.Doing("what comes after it")
	case "well":
		if err := box.Close(); err != nil {
			panic(err)
		}
	}
	os.Exit(1)
}

// TestLeft ends processes in every way and checks that each output is reported once, with its path.
func TestLeft(t *testing.T) {
	for what, want := range map[string]string{
		"panic":   "an uncaught panic",
		"runtime": "maps.fatal", // its output goes to the terminal only
		"caught":  "run in progress: r-1",
		"kill":    "",
		"well":    "",
	} {
		t.Run(what, func(t *testing.T) {
			data := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), dieEnv+"="+what+" "+data)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("the process did not die: %s", out)
			}
			left, err := Left(data, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Left(data, nil)
			if err != nil || !slices.Equal(again, left) {
				t.Errorf("before the report was shown: %v, %v, want %v", again, err, left)
			}
			for i := range left {
				if left[i].Path, err = Told(left[i].Path); err != nil {
					t.Fatal(err)
				}
			}
			if again, err := Left(data, nil); err != nil || len(again) > 0 {
				t.Errorf("reported again: %v, %v", again, err)
			}
			files, err := os.ReadDir(filepath.Join(data, folder))
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				if len(left)+len(files) > 0 {
					t.Errorf("got %v, files %v, want nothing", left, files)
				}
				return
			}
			if len(left) != 1 || len(files) != 1 {
				t.Fatalf("got %v, files %v, want one text", left, files)
			}
			text, err := os.ReadFile(left[0].Path)
			if err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), ".go:") {
				t.Errorf("got %q, %v, want %q and a stack", text, err, want)
			}
			for _, part := range []string{"ended unexpectedly at 20", "program: test", "system: " + runtime.GOOS + " on ", runtime.Version(), "doing: ", "\nWhat happened\n"} {
				if !strings.Contains(string(text), part) {
					t.Errorf("the report does not hold %q:\n%s", part, text)
				}
			}
			if what == "caught" && !strings.Contains(string(text), "doing: run r-1: running, cycle 3 of 24") || left[0].Program != "test" {
				t.Errorf("the report does not name the activity: %s", text)
			}
			for _, secret := range []string{"hunter2!", "s3cret"} {
				if strings.Contains(string(text), secret) {
					t.Errorf("the text holds the secret %s", secret)
				}
			}
		})
	}
}

// TestLeftAlone checks that the file of a live process stays.
func TestLeftAlone(t *testing.T) {
	data := t.TempDir()
	box, err := Open(data, "test")
	if err != nil {
		t.Fatal(err)
	}
	if left, err := Left(data, nil); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v, want nothing", left, err)
	}
	if path := box.Keep("x", nil, ""); path == "" {
		t.Error("the file of a living process was removed")
	}
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	left, err := Left(data, nil)
	if err != nil || len(left) != 1 {
		t.Fatalf("got %v, %v, want the text", left, err)
	}
	words := Words(left, "r-1")
	for _, part := range []string{"ended unexpectedly on ", "run r-1 can be resumed", "the text is in " + left[0].Path} {
		if !strings.Contains(words, part) {
			t.Errorf("%q does not contain %q", words, part)
		}
	}
	if got := Words(nil, "r-1"); got != "" {
		t.Errorf("without reports: got %q", got)
	}
	var none *Box
	if got := fmt.Sprint(none.Keep("x", nil, ""), none.Close()); got != "<nil>" {
		t.Errorf("without a box: %s", got)
	}
}

// TestReport checks that a report has the last log lines, and neither secrets nor the path of the home folder.
func TestReport(t *testing.T) {
	data, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.Mkdir(Folder(data), 0o700); err != nil {
		t.Fatal(err)
	}
	said := "panic: open " + home + "/study/x: Authorization: Bearer abcdefgh12345678, api_key=zyxw9876, \"password\": \"opensesame\" sk-abcdefghijklmnop1234 postgres://me:pw99@db/x\n"
	name := filepath.Join(Folder(data), prefix+"1-x"+suffix)
	for path, text := range map[string]string{name: said, name + doingSuffix: "program: throngctl 1.2\ndoing: a test\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asked := ""
	left, err := Left(data, func(program string, _ time.Time) []string {
		asked = program
		return []string{"time=… msg=\"token=deadbeef99 in " + home + "\""}
	})
	if err != nil || len(left) != 1 || asked != "throngctl 1.2" || left[0].Program != asked {
		t.Fatalf("got %v, %v, log lines requested for %q", left, err, asked)
	}
	text, err := os.ReadFile(left[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{home, "abcdefgh12345678", "zyxw9876", "opensesame", "sk-abcdef", "pw99", "deadbeef99"} {
		if strings.Contains(string(text), private) {
			t.Errorf("the report holds %s:\n%s", private, text)
		}
	}
	for _, part := range []string{"~/study/x", "What was logged last\ntime=", "doing: a test"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the report does not hold %q:\n%s", part, text)
		}
	}
	if files, err := os.ReadDir(Folder(data)); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}
