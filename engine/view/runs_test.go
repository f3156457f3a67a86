package view

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func shoppers() engine.RunRecord {
	s := engine.DefaultSettings()
	s.Cycles = 24
	return engine.RunRecord{
		ID: "r", Title: "Shoppers", Settings: s, Limit: s.Limit,
		Source: engine.Source{
			Parameters: map[string]string{"agents": "372", "llm_share": "0", "model": `""`},
			Baseline: engine.Baseline{
				Parameters: map[string]string{"agents": "372", "llm_share": "0", "model": `""`}, Titles: map[string]string{"agents": "Shoppers"},
				Settings: map[string]string{"cycles": "24"}, Acted: "order",
			},
		},
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.RunRecord)
		want   string
	}{
		{"nothing", func(*engine.RunRecord) {}, "defaults"},
		{"parameters", func(r *engine.RunRecord) {
			r.Source.Parameters = map[string]string{"agents": "500", "llm_share": "0.5", "model": `"gpt"`}
		}, "Shoppers 500, llm share 0.5, model gpt"},
		{"settings", func(r *engine.RunRecord) { r.Settings.Cycles, r.Settings.Limit, r.Settings.Ceiling = 48, 200, 200 }, "concurrency limit 200, cycles 48"},
		{"switches", func(r *engine.RunRecord) { r.Settings.Sequential = true }, "sequential agents"},
		{"what a run stores", func(r *engine.RunRecord) { r.Settings.KeepShare, r.Settings.Remote = 1, true }, "defaults"},
		{"a preset", func(r *engine.RunRecord) {
			r.Settings.Preset = "80/50"
			for name, text := range engine.SettingPresets[0].Settings {
				if err := engine.FindSetting(name).Set(&r.Settings, text); err != nil {
					panic(err)
				}
			}
			r.Settings.Floor = 30
		}, "preset 80/50, lowest limit 30"},
		{"services and agents", func(r *engine.RunRecord) {
			r.Settings.Services = map[string]string{"shop": "https://staging.example.com/v1"}
			r.Settings.Agents, r.Settings.Mock.Profile = []string{"a", "b"}, "slow"
		}, "shop at staging.example.com, 2 selected agents, mock latency slow"},
		{"the usual latency of the mocks", func(r *engine.RunRecord) { r.Settings.Mock.Profile = "local" }, "defaults"},
		{"a scenario without titles and defaults", func(r *engine.RunRecord) { r.Source.Baseline = engine.Baseline{} }, "agents 372, llm share 0, model empty, cycles 24"},
		{"a run of another machine", func(r *engine.RunRecord) { r.Fetched = &engine.Fetched{}; r.Settings.Cycles = 3 }, ""},
		{"a damaged run", func(r *engine.RunRecord) { r.Damage = "unexpected EOF" }, ""},
	} {
		r := shoppers()
		c.change(&r)
		if got := DifferencesText(&r); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	passed, failed := engine.Judgment{Passed: true}, engine.Judgment{}
	for _, c := range []struct {
		name   string
		change func(*engine.RunRecord)
		want   string
	}{
		{"nothing yet", func(*engine.RunRecord) {}, ""},
		{"in progress", func(r *engine.RunRecord) {
			r.Done, r.Tally.Acted, r.InProgress = 5000, 1240, true
			r.Verdict = []engine.Judgment{failed}
		}, "1,240 orders, no failures"},
		{"ended", func(r *engine.RunRecord) {
			r.Done, r.Tally, r.Ending, r.Verdict = 5000, engine.Tally{Acted: 1, Failed: 1}, engine.EndFinished, []engine.Judgment{passed, failed}
		}, "1 order, 1 failure, 1 of 2 criteria met"},
		{"all met", func(r *engine.RunRecord) {
			r.Done, r.Ending, r.Verdict = 5000, engine.EndFinished, []engine.Judgment{passed, passed}
		}, "0 orders, no failures, all criteria met"},
		{"stopped", func(r *engine.RunRecord) {
			r.Done, r.Ending, r.Verdict = 500, engine.EndStopped, []engine.Judgment{passed, passed}
		}, "0 orders, no failures, so far all criteria met"},
		{"without an event", func(r *engine.RunRecord) { r.Done, r.Source.Baseline.Acted, r.Tally.Failed = 10, "", 3 }, "3 failures"},
	} {
		r := shoppers()
		c.change(&r)
		if got := Outcome(&r); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMatches(t *testing.T) {
	r := shoppers()
	r.Name, r.Tags, r.Note, r.Done, r.Tally.Failed = "Friday", []string{"prices"}, "slow", 5, 3
	r.Source.Parameters["agents"], r.Experiment = "500", "Coupons"
	for text, want := range map[string]bool{
		"": true, "  ": true, "friday": true, "SHOPPERS prices": true, "slow r": true, "shoppers 500": true, "3 failures": true, "interrupted": true, "coupons": true, "friday monday": false, "prices2": false,
	} {
		if got := Matches(&r, text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestActed(t *testing.T) {
	var got []string
	for _, event := range []string{"order", "said", "purchase_order", "abandoned", "reply", "survey", "match", "order"} {
		got = append(got, Acted(event, 1200))
	}
	want := "1,200 orders|1,200 said|1,200 purchase orders|1,200 abandoned|1,200 replies|1,200 surveys|1,200 matches|1,200 orders"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}
