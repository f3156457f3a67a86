package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// plainly runs a test in the program without the race detector if this program has it, and reports whether it did. It is for
// tests that compare the results of many runs: the detector makes them eight times slower, and the packages of the engine, and
// the other tests here, have their own runs under it. The test gets a process of its own, so it may change the environment.
func plainly(t *testing.T) bool {
	t.Helper()
	program := self(t)
	if this, err := os.Executable(); err != nil || program == this {
		return false
	}
	t.Parallel()
	seen := filepath.Join(t.TempDir(), "seen")
	args := []string{"-test.testlogfile", seen, "-test.run", "^" + t.Name() + "$", "-test.v", "-test.parallel", "4"} // tests within a test wait most of the time
	if deadline, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout", time.Until(deadline).String())
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	t.Logf("%s", out)
	touch(t, seen)
	verdict := regexp.MustCompile(`(?m)^--- (PASS|SKIP): ` + t.Name() + ` `).FindSubmatch(out)
	switch {
	case err != nil:
		t.Fatal(err)
	case verdict == nil:
		t.Fatal("the other program did not run this test")
	case string(verdict[1]) == "SKIP":
		t.Skip("skipped there")
	}
	return true
}

// touch looks at the files and variables that another process looked at, according to its log: go test repeats a test only if
// one of those that it knows of has changed.
func touch(t *testing.T, log string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(read(t, log)) {
		what, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch what {
		case "chdir":
			dir = name
		case "getenv":
			_ = os.Getenv(name)
		case "open", "stat":
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			_, _ = os.Stat(name)
		}
	}
}
