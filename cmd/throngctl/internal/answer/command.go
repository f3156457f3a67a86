package answer

import (
	"maps"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/cleanup"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
)

// Allowed lists the permissions of a file.
type Allowed struct {
	File      string          `json:"file"`
	Addresses []consent.Grant `json:"addresses"`
}

// Cleanup describes what a cleanup removes.
type Cleanup struct {
	Run      engine.RunID     `json:"run"`
	Agents   int              `json:"agents"`
	Sessions int64            `json:"sessions"`
	Events   map[string]int64 `json:"events"`
	Requests cleanup.Requests `json:"requests"`
	Hosts    []string         `json:"hosts"`
	Resume   engine.RunID     `json:"resume,omitempty"`
	Done     []engine.RunID   `json:"done"`
	Cleaned  []engine.Cleaned `json:"cleaned"`
	Sent     bool             `json:"sent"`
}

// NewCleanup returns the JSON form of a cleanup.
func NewCleanup(plan *cleanup.Plan, send bool) Cleanup {
	j := Cleanup{
		Run: plan.Run.ID, Agents: plan.Agents, Sessions: plan.Sessions, Events: plan.Events, Requests: plan.Requests, Hosts: []string{}, Resume: plan.Resume,
		Done: []engine.RunID{}, Cleaned: append([]engine.Cleaned{}, plan.Run.Cleaned...), Sent: send && (plan.Agents > 0 || plan.Resume != ""),
	}
	for _, h := range plan.Hosts {
		j.Hosts = append(j.Hosts, h.Address)
	}
	j.Done = append(j.Done, plan.Done...)
	return j
}

// Deleted describes what was deleted.
type Deleted struct {
	Run         string `json:"run"` // as given
	Checkpoints []int  `json:"checkpoints,omitempty"`
	Postgres    bool   `json:"in_postgres,omitempty"`
	Trash       bool   `json:"in_trash"`
}

// Pushed describes a run whose results are in a database.
type Pushed struct {
	Run      engine.RunID `json:"run"`
	Database string       `json:"database"`
	Sessions int64        `json:"sessions"`
}

// Report is the path of a report.
type Report struct {
	Run  engine.RunID `json:"run"`
	File string       `json:"file"`
}

// Note is the note of a run.
type Note struct {
	Run  engine.RunID `json:"run"`
	Note string       `json:"note"`
}

// Marks are the name, the tags and the star of a run.
type Marks struct {
	Run  engine.RunID `json:"run"`
	Name string       `json:"name"` // the title of the scenario, unless a user named the run
	Tags []string     `json:"tags"`
	Star bool         `json:"starred"`
}

// NewMarks returns the JSON form of the marks of a run.
func NewMarks(r *engine.RunRecord) Marks {
	return Marks{Run: r.ID, Name: r.DisplayName(), Tags: append([]string{}, r.Tags...), Star: r.Star}
}

// Preset is a starting point for the limit.
type Preset struct {
	Table       string `json:"table"`
	Name        string `json:"name"`
	Matches     string `json:"matches"`
	InFlight    string `json:"in_flight"`
	ThisMachine bool   `json:"this_machine,omitempty"`
}

// NewPresets returns all presets, with the one for this machine marked.
func NewPresets(data string) (all []Preset) {
	machine := calibration.ThisMachine(data)
	own := engine.PresetFor(machine.Cores, machine.MemoryBytes)
	for _, table := range []struct {
		name    string
		presets []engine.Preset
	}{{"system", engine.Systems}, {"use", engine.Uses}, {"deployment", engine.Deployments}} {
		for _, p := range table.presets {
			all = append(all, Preset{table.name, p.Name, p.Matches, p.Span(), p == own})
		}
	}
	return all
}

// Waiting is the line of a run or an experiment that waits: for its start time, or in the queue while another one is in progress.
type Waiting struct {
	Event string    `json:"event"`
	At    time.Time `json:"at,omitzero"`
	Queue string    `json:"queue,omitempty"` // its ID there
	Run   string    `json:"run,omitempty"`   // absent before a start time, and for an experiment
	For   string    `json:"for,omitempty"`   // what is in progress
}

// WaitingEvent is the event of Waiting.
const WaitingEvent = "waiting"

// Settings are the current settings.
type Settings struct {
	Settings []Setting `json:"settings"`
	CA       string    `json:"imported_ca,omitempty"`
	Data     string    `json:"data"`
}

// Setting is a setting. From is the flag or variable that sets it, or saved, scenario or default.
type Setting struct {
	Name    string   `json:"name"`
	Value   string   `json:"value"`
	From    string   `json:"from"`
	Meaning string   `json:"meaning"`
	Env     []string `json:"environment,omitempty"`
	Not     []string `json:"opposite_environment,omitempty"`
}

// Mock is the address and the secret of a mock server.
type Mock struct {
	Server string `json:"server"`
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// Metric is an exported metric.
type Metric struct {
	Name   string   `json:"name"` // in Prometheus
	Kind   string   `json:"kind"`
	Labels []string `json:"labels"`
	Help   string   `json:"help"`
}

// License is the license of a component, with its text if requested.
type License struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	License string `json:"license"`
	Text    string `json:"text,omitempty"`
}

// Page is a page of the guide, or a passage.
type Page struct {
	Topic   string `json:"topic"`
	Title   string `json:"title"`
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text,omitempty"`
}

// BuiltIn is a built-in scenario with its files by name.
type BuiltIn struct {
	Name  string            `json:"name"`
	Title string            `json:"title"`
	About string            `json:"about"`
	Files map[string]string `json:"files,omitempty"`
}

// Texts returns the scenario without the content of files that are not texts.
func (b BuiltIn) Texts() BuiltIn {
	b.Files = maps.Clone(b.Files)
	for name, text := range b.Files {
		if !utf8.ValidString(text) {
			b.Files[name] = ""
		}
	}
	return b
}

// Changes lists changed settings, or those that can be changed.
type Changes struct {
	Run      engine.RunID    `json:"run"`
	Changes  []engine.Change `json:"changes,omitempty"`
	Tunables []Tunable       `json:"tunables,omitempty"`
}

// Tunable is a setting that can be changed mid-run.
type Tunable struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
}
