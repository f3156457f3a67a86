package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/awake"
	"github.com/throng-sim/throng/cmd/internal/power"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/view"
)

// enoughDisk is the free disk space in bytes below which a check warns, unless the forecast needs more.
const enoughDisk = 10e9

// machineItems lists the checks of this machine.
func (l checks) machineItems() []item {
	sample := l.host
	if sample == nil {
		sample = machine.Host(nearestFolder(l.Data))
	}
	here := sync.OnceValue(sample)
	need := sync.OnceValue(l.forecast)
	return []item{
		{"Disk", "", func(context.Context) engine.Check { return checkDisk(here(), need().Disk) }},
		{"Memory", "", func(context.Context) engine.Check { return checkMemory(here(), need().Memory) }},
		{"Data folder", "", func(context.Context) engine.Check { return checkFolder(l.Data) }},
		{"Log and recording", "", func(ctx context.Context) engine.Check { return l.checkLog(ctx, slog.Default()) }},
		{"Power and sleep", "", func(ctx context.Context) engine.Check {
			source, err := power.Read(ctx)
			return checkPower(source, err, l.mayKeepAwake())
		}},
	}
}

// forecast returns the forecast of the launch; the zero value without a scenario.
func (l checks) forecast() engine.Forecast {
	if l.Scenario == nil {
		return engine.Forecast{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	w, err := l.forecaster.Workload(ctx)
	if err != nil {
		return engine.Forecast{}
	}
	return l.forecaster.Forecast(l.earlier.Find(ctx, l.forecaster), w)
}

func checkDisk(here engine.HostMetrics, need engine.Estimate) engine.Check {
	free := float64(here.DiskFree)
	text := engine.FormatBytes(int64(free)) + " free"
	if need.Known() {
		text += "; the run needs " + view.RoughBytes(need)
	}
	switch {
	case here.DiskFree == 0:
		return unknown("free space unknown")
	case need.Known() && free < need.Low:
		return withFix(problem("free some space: the run pauses when the disk is full; nothing is lost", "%s", text), engine.FixFree, "")
	case free < enoughDisk || need.Known() && free < need.High:
		return withFix(warning(fmt.Sprintf("free at least %s", engine.FormatBytes(int64(max(enoughDisk, need.High)))), "%s", text), engine.FixFree, "")
	}
	return fine("%s", text)
}

func checkMemory(here engine.HostMetrics, need engine.Estimate) engine.Check {
	left, enough := float64(here.Available), float64(health.EnoughMemory(&here))
	text := engine.FormatBytes(int64(left)) + " available"
	if need.Known() {
		text += "; the run needs " + view.RoughBytes(need)
	}
	switch {
	case here.MemoryTotal == 0:
		return unknown("memory unknown")
	case need.Known() && left < need.Low:
		return withFix(problem("close other programs, or use fewer agents or a lower limit", "%s", text), engine.FixAgain, "")
	case left < enough || need.Known() && left < need.High:
		return withFix(warning(fmt.Sprintf("close other programs: at least %s should be available", engine.FormatBytes(int64(max(enough, need.High)))), "%s", text), engine.FixAgain, "")
	}
	return fine("%s", text)
}

// checkFolder writes a file to the data folder and removes it.
func checkFolder(data string) engine.Check {
	if data == "" {
		return unknown("no data folder")
	}
	if err := tryWriting(nearestFolder(data)); err != nil {
		return withFix(problem("make it writable, or choose another folder", "%s is not writable: %v", data, err), engine.FixSettings, "")
	}
	return fine("%s is writable", data)
}

func tryWriting(dir string) error {
	file, err := os.CreateTemp(dir, ".throng-check-*")
	if err != nil {
		return errors.Unwrap(err) // without the file name
	}
	_, err = file.WriteString("Throng checks that this folder is writable.\n")
	return errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
}

// nearestFolder returns dir or, if it does not exist yet, its nearest existing parent.
func nearestFolder(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// highKeepShare is the fraction of sessions with stored requests above which a check warns.
const highKeepShare = 0.1

// checkLog checks how much a run logs and records in addition to its results.
func (l checks) checkLog(ctx context.Context, log *slog.Logger) engine.Check {
	share := fmt.Sprintf("requests and answers of %.4g%% of the sessions are stored", 100*l.Settings.KeepShare)
	switch {
	case log.Enabled(ctx, slog.LevelDebug):
		return warning("a long run makes a large log: lower log-level", "the log level is debug; %s", share)
	case l.Settings.Record:
		return warning("turn recording off unless you want to replay the run", "every answer is recorded; the recording takes as much disk as the compressed answers")
	case l.Settings.KeepShare > highKeepShare:
		return warning("set keep-share to 0.01: that is enough for examples", "%s, which takes disk space", share)
	}
	return fine("the log level is info; %s; recording is off", share)
}

// errNotKeptAwake says that keep-awake is off.
var errNotKeptAwake = errors.New("it may sleep during a run, which pauses meanwhile")

// mayKeepAwake checks whether a run can keep the machine awake.
func (l checks) mayKeepAwake() error {
	if !l.Settings.KeepAwake {
		return errNotKeptAwake
	}
	release, _, err := awake.Hold("preflight checks")
	if err == nil {
		release()
	}
	return err
}

// checkPower checks the power source and whether the machine may sleep. err says why the source is unknown, and sleeps why
// a run cannot keep the machine awake.
func checkPower(source power.Source, err, sleeps error) engine.Check {
	sleep, from := "it is kept awake during a run", "plugged in"
	kept := sleeps == nil || errors.Is(sleeps, awake.ErrNone)
	switch {
	case !kept:
		sleep = sleeps.Error()
	case sleeps != nil:
		sleep = "no sleep inhibitor was found; servers usually do not sleep"
	}
	if source.Battery {
		from = "on battery"
	}
	if source.Percent >= 0 {
		from = fmt.Sprintf("%s, at %d%%", from, source.Percent)
	}
	switch {
	case err != nil && kept:
		return unknown("%v whether the machine is plugged in; %s", err, sleep)
	case !kept && !errors.Is(sleeps, errNotKeptAwake):
		return warning("a run waits while the machine sleeps", "the machine may sleep: %s", sleep)
	case !kept && (err != nil || !source.Battery):
		return withFix(warning("turn keep-awake on", "the machine is not kept awake: %s", sleep), engine.FixSettings, "")
	case source.Battery:
		return withFix(warning("plug it in for a long run", "the machine is %s; %s", from, sleep), engine.FixAgain, "")
	}
	return fine("the machine is %s; %s", from, sleep)
}
