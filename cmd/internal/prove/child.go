package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
)

// child is a throngctl process for the run in a folder.
type child struct {
	dir     string
	args    []string
	point   Point      // at which it kills itself; if N is 0, it does not
	counts  string     // file
	workers [][]string // environment variables for the first start of each worker
}

// start runs a child to its end. killed reports that it died at its point. The error contains the child's output.
func (c *Config) start(ctx context.Context, ch child) (killed bool, err error) {
	cmd := exec.CommandContext(ctx, c.Program, append(ch.args, "--data", ch.dir)...)
	cmd.Env = c.environment(ch)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil:
		return false, nil
	case !ok:
		return false, err
	case ch.point.N > 0 && dead(exit):
		return true, nil
	case exit.ExitCode() == missed: // the run ended, which is what counts
		return false, nil
	}
	return false, fmt.Errorf("throngctl %s: %w\n%s", strings.Join(ch.args, " "), err, lastLines(said.String()))
}

// missed is the exit code of a run that failed or missed one of its criteria.
const missed = 1

// dead reports whether a process was killed.
func dead(exit *exec.ExitError) bool {
	return exit.ExitCode() == -1 || runtime.GOOS == "windows" && exit.ExitCode() == 1
}

// environment returns the environment of this process with the additions for a child.
func (c *Config) environment(ch child) []string {
	var env []string
	for _, entry := range append(os.Environ(), c.Env...) {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case config.DatabaseEnv, about.DataEnv, config.NotifyEnv:
		default:
			if !own(entry) {
				env = append(env, entry)
			}
		}
	}
	if ch.point.N > 0 {
		env = append(env, KillEnv+"="+ch.point.String())
	}
	if ch.counts != "" {
		env = append(env, CountEnv+"="+ch.counts)
	}
	if len(ch.workers) > 0 {
		env = append(env, workersEnv+"="+encoded(ch.workers))
	}
	if c.Database.URL != "" { // not as an argument, which is visible to other users of the machine
		env = append(env, config.DatabaseEnv+"="+c.Database.URL)
	}
	return env
}

// lastLines returns the end of a child's output.
func lastLines(text string) string {
	const most = 12
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// folder makes the data folder of one run, with the user's settings for all runs.
func (c *Config) folder(parent, name string) (dir string, err error) {
	dir = filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, config.CopyChoices(dir, c.Data)
}

// run returns the arguments of a process that starts or resumes the run, spread over workers or not.
func (c *Config) run(resume, spread bool, s settings) []string {
	args := append([]string{"run"}, c.Run...)
	if resume {
		args = append([]string{"resume"}, c.Resume...)
	}
	args = append(args, "--no-dashboard", "--keep-awake=off", "--otlp=off", "--max-concurrent="+strconv.Itoa(s.limit))
	if !s.governed && c.Given["governor"] == "" {
		args = append(args, "--governor=manual")
	}
	if s.checkpoints && c.Given["checkpoint-interval"] == "" {
		args = append(args, "--checkpoint-interval=20ms")
	}
	if c.Database.URL == "" {
		args = append(args, "--database-url=none")
	}
	if spread {
		args = append(args, "--fleet="+crew.LocalFleet(c.Fleet.Workers))
	}
	return args
}
