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
)

// enoughDisk is how much of the local disk should be free, in bytes, where the forecast asks for no more.
const enoughDisk = 10e9

// machineItems are what this machine must have.
func (l checks) machineItems() []item {
	sample := l.host
	if sample == nil {
		sample = engine.HostSampler(nearestFolder(l.Data))
	}
	here := sync.OnceValue(sample)
	foreseen := sync.OnceValue(l.foreseen)
	return []item{
		{"Disk", "", func(context.Context) engine.Check { return checkDisk(here(), foreseen().Disk) }},
		{"Memory", "", func(context.Context) engine.Check { return checkMemory(here(), foreseen().Memory) }},
		{"Data folder", "", func(context.Context) engine.Check { return checkFolder(l.Data) }},
		{"Log and recording", "", func(ctx context.Context) engine.Check { return l.checkLog(ctx, slog.Default()) }},
		{"Power and sleep", "", func(ctx context.Context) engine.Check {
			source, err := power.Read(ctx)
			return checkPower(source, err, l.mayKeepAwake())
		}},
	}
}

// foreseen is the forecast of the launch; nothing is known of one without a scenario.
func (l checks) foreseen() engine.Forecast {
	if l.Scenario == nil {
		return engine.Forecast{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	taking, err := l.estimate.Taking(ctx)
	if err != nil {
		return engine.Forecast{}
	}
	return l.estimate.Forecast(l.past.Like(ctx, l.estimate), taking)
}

func checkDisk(here engine.HostMetrics, need engine.Estimate) engine.Check {
	free := float64(here.DiskFree)
	text := engine.FormatBytes(int64(free)) + " free"
	if need.Known() {
		text += ", and the run is expected to take " + need.InBytes()
	}
	switch {
	case here.DiskFree == 0:
		return unknown("the free space cannot be read")
	case need.Known() && free < need.Low:
		return mended(problem("the run would pause when the disk is full, with nothing lost", "%s", text), engine.MendFree, "")
	case free < enoughDisk || need.Known() && free < need.High:
		return mended(warning(fmt.Sprintf("%s should be free", engine.FormatBytes(int64(max(enoughDisk, need.High)))), "%s", text), engine.MendFree, "")
	}
	return fine("%s", text)
}

func checkMemory(here engine.HostMetrics, need engine.Estimate) engine.Check {
	left, enough := float64(here.Available), float64(health.EnoughMemory(&here))
	text := engine.FormatBytes(int64(left)) + " left"
	if need.Known() {
		text += ", and the run is expected to take " + need.InBytes()
	}
	switch {
	case here.MemoryTotal == 0:
		return unknown("the memory cannot be read")
	case need.Known() && left < need.Low:
		return mended(problem("close other programs, or have fewer agents or fewer at once", "%s", text), engine.MendAgain, "")
	case left < enough || need.Known() && left < need.High:
		return mended(warning(fmt.Sprintf("close other programs: %s should be left", engine.FormatBytes(int64(max(enough, need.High)))), "%s", text), engine.MendAgain, "")
	}
	return fine("%s", text)
}

// checkFolder writes a file where the store is, and removes it.
func checkFolder(data string) engine.Check {
	if data == "" {
		return unknown("none is chosen")
	}
	if err := tryWriting(nearestFolder(data)); err != nil {
		return mended(problem("make it writable, or choose another folder", "%s cannot be written: %v", data, err), engine.MendSettings, "")
	}
	return fine("%s can be written", data)
}

func tryWriting(dir string) error {
	file, err := os.CreateTemp(dir, ".throng-check-*")
	if err != nil {
		return errors.Unwrap(err) // without the file's name
	}
	_, err = file.WriteString("Throng looks whether this folder can be written.\n")
	return errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
}

// nearestFolder is the folder itself or, while that is not made yet, the one it will be made in.
func nearestFolder(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// muchKept is the share of sessions whose requests are kept from which on that is worth a word.
const muchKept = 0.1

// checkLog says what is written down of a run beside its results.
func (l checks) checkLog(ctx context.Context, log *slog.Logger) engine.Check {
	share := fmt.Sprintf("%.4g %% of the sessions keep their requests and answers", 100*l.Settings.KeepShare)
	switch {
	case log.Enabled(ctx, slog.LevelDebug):
		return warning("that is much text in a long run", "the log has every detail; %s", share)
	case l.Settings.Record:
		return warning("leave recording off where nothing is to be replayed", "every answer is recorded, which takes about what the services answer, compressed")
	case l.Settings.KeepShare > muchKept:
		return warning("0.01 is enough to look at examples: keep-share in the settings", "%s, which takes disk", share)
	}
	return fine("the log has what is unusual; %s; nothing is recorded for a replay", share)
}

// errFree is that nobody wants the machine to be kept awake.
var errFree = errors.New("it may fall asleep during a run, which then waits")

// mayKeepAwake tries whether a run can keep the machine awake.
func (l checks) mayKeepAwake() error {
	if !l.Settings.KeepAwake {
		return errFree
	}
	release, _, err := awake.Hold("checks before a run")
	if err == nil {
		release()
	}
	return err
}

// checkPower says what the machine draws from, and whether it may fall asleep; err is that nobody tells the first, and
// sleeps why a run does not keep it awake.
func checkPower(source power.Source, err, sleeps error) engine.Check {
	sleep, from := "it is kept awake during a run", "plugged in"
	kept := sleeps == nil || errors.Is(sleeps, awake.ErrNone)
	switch {
	case !kept:
		sleep = sleeps.Error()
	case sleeps != nil:
		sleep = "nothing here can keep it awake, nor mostly put it to sleep"
	}
	if source.Battery {
		from = "on its battery"
	}
	if source.Percent >= 0 {
		from = fmt.Sprintf("%s, at %d %%", from, source.Percent)
	}
	switch {
	case err != nil && kept:
		return unknown("%v whether the machine is plugged in; %s", err, sleep)
	case !kept && !errors.Is(sleeps, errFree):
		return warning("a run waits while it sleeps", "the machine may fall asleep: %s", sleep)
	case !kept && (err != nil || !source.Battery):
		return mended(warning("switch keep-awake on", "the machine is not kept awake: %s", sleep), engine.MendSettings, "")
	case source.Battery:
		return mended(warning("plug it in for a long run", "the machine is %s; %s", from, sleep), engine.MendAgain, "")
	}
	return fine("the machine is %s; %s", from, sleep)
}
