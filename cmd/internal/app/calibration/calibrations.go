// Package calibration measures a run at levels of its limit, and keeps what was found.
package calibration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
)

// Record is a sweep that was made, and of what.
type Record struct {
	At       time.Time        `json:"at"`
	Machine  Machine          `json:"machine"`
	Scenario string           `json:"scenario"` // name or path
	Title    string           `json:"title"`    // of the scenario
	Hash     string           `json:"hash"`     // of the scenario's files and parameters
	Services []string         `json:"services"` // where each is
	Agents   int              `json:"agents"`
	Result   calibrate.Result `json:"result"`

	Notice string `json:"-"` // what a person should know of how it was kept; "" is nothing
}

// Machine is one that calibrations are of.
type Machine struct {
	Host        string `json:"host"`
	Cores       int    `json:"cores"`
	MemoryBytes uint64 `json:"memory_bytes"` // 0 is not known
}

// ThisMachine describes the one that the program runs on.
func ThisMachine(data string) Machine {
	host, _ := os.Hostname() // without one, its size tells machines apart
	return Machine{host, runtime.NumCPU(), engine.HostSampler(data)().MemoryTotal}
}

func (m Machine) String() string {
	text := fmt.Sprintf("%d cores", m.Cores)
	if m.MemoryBytes > 0 {
		text += ", " + engine.FormatBytes(int64(m.MemoryBytes))
	}
	if m.Host != "" {
		text = m.Host + ": " + text
	}
	return text
}

// Same reports whether c and o are of the same scenario with the same services on the same machine.
func (c *Record) Same(o *Record) bool {
	return c.Machine.Host == o.Machine.Host && c.Machine.Cores == o.Machine.Cores && c.Hash == o.Hash && slices.Equal(c.Services, o.Services)
}

// HashOf tells scenarios apart, and what parameters they were given.
func HashOf(s *engine.Source) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", s.Hash)
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		fmt.Fprintf(h, "%q=%q\n", name, s.Parameters[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

const (
	// ListFile is the name of the file of calibrations in the data folder.
	ListFile            = "calibrations.json"
	calibrationsVersion = 1
)

// calibrationFile is what the file holds, newest first.
type file struct {
	Version      int      `json:"version"`
	Calibrations []Record `json:"calibrations"`
}

// List lists those that are kept in the data folder, newest first: one for each machine, scenario and services.
// A file that cannot be read is set aside under another name, which notice says.
func List(data string) (all []Record, notice string, err error) {
	path := filepath.Join(data, ListFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	var file file
	switch err := json.Unmarshal(text, &file); {
	case err != nil || file.Version < 1:
		aside := path + ".damaged-" + time.Now().UTC().Format("20060102-150405.000")
		if moved := os.Rename(path, aside); moved != nil {
			return nil, "", fmt.Errorf("the calibrations in %s cannot be read, nor set aside: %w; remove the file", path, moved)
		}
		return nil, fmt.Sprintf("the calibrations could not be read; they are kept as %s, and new ones begin a new file", filepath.Base(aside)), nil
	case file.Version > calibrationsVersion:
		return nil, "", fmt.Errorf("the calibrations in %s are of a newer Throng: use that, or move the file away", path)
	}
	return file.Calibrations, "", nil
}

// Keep adds c to the file, in place of an earlier one of the same.
func (c *Record) Keep(data string) (err error) {
	lock := flock.New(filepath.Join(data, ListFile+".lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("the calibration is not kept: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	var all []Record
	if all, c.Notice, err = List(data); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Record) bool { return o.Same(c) })
	text, err := json.MarshalIndent(file{calibrationsVersion, append([]Record{*c}, all...)}, "", "\t")
	if err != nil {
		return fmt.Errorf("the calibration is not kept: %w", err)
	}
	path := filepath.Join(data, ListFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("the calibration is not kept: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("the calibration is not kept: %w", err)
	}
	return nil
}

// ApplyLevel saves a recommended level with the settings: runs begin with so many sessions, and a governor allows no more.
func ApplyLevel(data string, level int) error {
	saved, err := config.LoadSaved(data)
	if err != nil {
		return err
	}
	n := strconv.Itoa(level)
	changes := map[string]string{"max-concurrent": n, "ceiling": n}
	if floor, err := strconv.Atoi(saved["floor"]); err == nil && floor > level {
		changes["floor"] = n
	}
	return config.Save(data, changes)
}
