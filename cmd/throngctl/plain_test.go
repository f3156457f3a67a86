package main

import (
	"os"
	"os/exec"
	"regexp"
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
	args := []string{"-test.run", "^" + t.Name() + "$", "-test.v", "-test.parallel", "4"} // tests within a test wait most of the time
	if deadline, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout", time.Until(deadline).String())
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	t.Logf("%s", out)
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
