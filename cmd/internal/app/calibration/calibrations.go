// Package calibration measures a run at several concurrency limits, and stores the results.
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
	"github.com/throng-sim/throng/engine/machine"
)

// Record is a completed calibration.
type Record struct {
	At       time.Time        `json:"at"`
	Machine  Machine          `json:"machine"`
	Scenario string           `json:"scenario"` // name or path
	Title    string           `json:"title"`    // of the scenario
	Hash     string           `json:"hash"`     // of the scenario's files and parameters
	Services []string         `json:"services"` // address of each
	Agents   int              `json:"agents"`
	Workers  int              `json:"workers"` // of the fleet on this machine; 0 is one process
	Result   calibrate.Result `json:"result"`

	Notice string `json:"-"` // remark for the user about storing it; "" if there is none
}

// Machine identifies the machine of a calibration.
type Machine struct {
	Host        string `json:"host"`
	Cores       int    `json:"cores"`
	MemoryBytes uint64 `json:"memory_bytes"` // 0 is unknown
}

// ThisMachine describes the machine that the program runs on.
func ThisMachine(data string) Machine {
	host, _ := os.Hostname() // without a name, the size distinguishes machines
	return Machine{host, runtime.NumCPU(), machine.Host(data)().MemoryTotal}
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

// Where describes the machine, and the workers on it.
func (c *Record) Where() string {
	if c.Workers == 0 {
		return c.Machine.String()
	}
	return calibrate.WorkersText(c.Workers) + " on " + c.Machine.String()
}

// Same reports whether c and o are of the same scenario with the same services on the same machine and as many workers, both under the load of other programs
// or neither.
func (c *Record) Same(o *Record) bool {
	return c.Result.UnderLoad == o.Result.UnderLoad && c.Workers == o.Workers && c.Machine.Host == o.Machine.Host && c.Machine.Cores == o.Machine.Cores && c.Hash == o.Hash && slices.Equal(c.Services, o.Services)
}

// HashOf returns a hash of a scenario and its parameters.
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

// file is the content of the file, newest calibration first.
type file struct {
	Version      int      `json:"version"`
	Calibrations []Record `json:"calibrations"`
}

// List returns the stored calibrations, newest first, with one for each machine, scenario and set of services. A damaged
// file is renamed; notice then tells the user its new name.
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
			return nil, "", fmt.Errorf("the calibrations in %s cannot be read or renamed: %w; remove the file", path, moved)
		}
		return nil, fmt.Sprintf("the calibrations could not be read; the file is now %s, and a new file is started", filepath.Base(aside)), nil
	case file.Version > calibrationsVersion:
		return nil, "", fmt.Errorf("a newer Throng wrote the calibrations in %s: use that version, or move the file", path)
	}
	return file.Calibrations, "", nil
}

// Save adds c to the file. It replaces an earlier calibration of the same scenario, services and machine.
func (c *Record) Save(data string) (err error) {
	lock := flock.New(filepath.Join(data, ListFile+".lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("store the calibration: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	var all []Record
	if all, c.Notice, err = List(data); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Record) bool { return o.Same(c) })
	text, err := json.MarshalIndent(file{calibrationsVersion, append([]Record{*c}, all...)}, "", "\t")
	if err != nil {
		return fmt.Errorf("store the calibration: %w", err)
	}
	path := filepath.Join(data, ListFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("store the calibration: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("store the calibration: %w", err)
	}
	return nil
}

// ApplyLevel saves a recommended limit with the settings, as the limit and the ceiling of later runs.
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
