package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Differences returns how a run differs from the defaults of its scenario: changed parameters first, then settings that
// matter for results or speed.
func Differences(r *engine.RunRecord) []string {
	if r.Damage != "" || r.Fetched != nil {
		return nil
	}
	all := parameterDifferences(r)
	set, usual := r.Settings, usualSettings(r)
	if set.Preset != "" {
		all = append(all, "preset "+set.Preset)
	}
	for i := range engine.SettingTable {
		s := &engine.SettingTable[i]
		if !s.Matters() || s.Name == engine.CeilingSetting && set.Ceiling == set.Limit || s.Name == "cycles" && IsSurvey(r) { // it followed the limit, or the parent
			continue
		}
		if text := s.Show(&set); text != s.Show(&usual) {
			all = append(all, settingDifference(s, text))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set.Services)) {
		all = append(all, name+" at "+host(set.Services[name]))
	}
	if n := len(set.Agents); n > 0 {
		all = append(all, plural(int64(n), "selected agent"))
	}
	if set.Filter != "" {
		all = append(all, "agents with "+set.Filter)
	}
	if p := set.Mock.Profile; p != "" && p != "local" { // the default
		all = append(all, "mock latency "+p)
	}
	if len(set.Mock.Faults) > 0 {
		all = append(all, "mock faults")
	}
	return all
}

// DifferencesText returns the differences of a run in one line; "defaults" if there are none.
func DifferencesText(r *engine.RunRecord) string {
	if r.Damage != "" || r.Fetched != nil {
		return ""
	}
	all := Differences(r)
	if len(all) == 0 {
		return "defaults"
	}
	return strings.Join(all, ", ")
}

func parameterDifferences(r *engine.RunRecord) (all []string) {
	b := &r.Source.Baseline
	for _, name := range slices.Sorted(maps.Keys(r.Source.Parameters)) {
		text := r.Source.Parameters[name]
		if usual, known := b.Parameters[name]; known && usual == text {
			continue
		}
		title := b.Titles[name]
		if title == "" {
			title = strings.ReplaceAll(name, "_", " ")
		}
		all = append(all, title+" "+plainValue(text))
	}
	return all
}

// usualSettings returns the settings of a run without changes: those of Throng, of the run's preset, and of its scenario.
func usualSettings(r *engine.RunRecord) engine.Settings {
	usual := engine.DefaultSettings()
	apply := func(texts map[string]string) {
		for name, text := range texts {
			if s := engine.FindSetting(name); s != nil {
				_ = s.Set(&usual, text) // was valid when the run started
			}
		}
	}
	if i := slices.IndexFunc(engine.SettingPresets, func(p engine.SettingPreset) bool { return p.Name == r.Settings.Preset }); i >= 0 {
		apply(engine.SettingPresets[i].Settings)
	}
	apply(r.Source.Baseline.Settings)
	return usual
}

func settingDifference(s *engine.Setting, text string) string {
	title := strings.ToLower(s.Title)
	switch text {
	case "on":
		return title
	case "off":
		return "no " + title
	case "":
		return title + " none"
	}
	return title + " " + text
}

// plainValue returns a JSON value as plain text.
func plainValue(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil {
		if s == "" {
			return "empty"
		}
		return s
	}
	return text
}

// host returns the part of an address that identifies a service.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// Outcome returns the main result of a run in a few words, such as "1,240 orders, 3 failures, 5 of 6 criteria met"; "" before the first
// session has ended.
func Outcome(r *engine.RunRecord) string {
	if r.Damage != "" || r.Fetched != nil || r.Done == 0 {
		return ""
	}
	var parts []string
	if event := r.Source.Baseline.Acted; event != "" {
		if IsSurvey(r) {
			parts = append(parts, engine.FormatCount(r.Tally.Acted)+" answered")
		} else {
			parts = append(parts, Acted(event, r.Tally.Acted))
		}
	}
	failed := "no failures"
	if r.Tally.Failed > 0 {
		failed = plural(r.Tally.Failed, "failure")
	}
	parts = append(parts, failed)
	if r.Inexact != nil {
		parts = append(parts, "inexact")
	}
	if text := criteriaCount(r); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// Matches reports whether each word of a text occurs in what a list shows of a run: its name, title, ID, experiment, tags,
// note, state, differences and outcome. Letters in upper and lower case are the same.
func Matches(r *engine.RunRecord, text string) bool {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return true
	}
	in := strings.ToLower(strings.Join([]string{
		r.Name, r.Title, string(r.ID), r.Experiment, strings.Join(r.Tags, " "), r.Note, r.State(), DifferencesText(r), Outcome(r), r.Source.Name,
	}, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(in, word) })
}

// criteriaCount counts the success criteria that a run meets; "" before they are judged.
func criteriaCount(r *engine.RunRecord) string {
	if len(r.Verdict) == 0 || r.Ending == engine.NotEnded || r.InProgress {
		return ""
	}
	met := 0
	for i := range r.Verdict {
		if r.Verdict[i].Passed && !r.Verdict[i].Unknown {
			met++
		}
	}
	text := fmt.Sprintf("%d of %d criteria met", met, len(r.Verdict))
	if met == len(r.Verdict) {
		if text = "all criteria met"; met == 1 {
			text = "criterion met"
		}
	}
	if r.Ending != engine.EndFinished { // the sessions that are missing could change that
		text = "so far " + text
	}
	return text
}

// Acted counts the sessions with the event that a scenario counts as having acted, such as "1,240 orders" or "12 said".
func Acted(event string, n int64) string {
	return engine.FormatCount(n) + " " + eventNoun(strings.ReplaceAll(event, "_", " "), n)
}

// verbs are events that name what an agent did and that do not end in "ed".
var verbs = []string{"said", "bought", "sold", "paid", "sent", "spoke", "wrote", "left", "met", "read", "went", "won", "lost", "made", "told"}

// eventNoun returns the plural of an event that is a noun. The past of a verb stays.
func eventNoun(event string, n int64) string {
	last := event[strings.LastIndex(event, " ")+1:]
	switch {
	case n == 1 || strings.HasSuffix(last, "ed") || slices.Contains(verbs, last):
		return event
	case strings.HasSuffix(last, "y") && len(last) > 1 && !strings.ContainsRune("aeiou", rune(last[len(last)-2])):
		return event[:len(event)-1] + "ies"
	case strings.HasSuffix(last, "s") || strings.HasSuffix(last, "x") || strings.HasSuffix(last, "ch") || strings.HasSuffix(last, "sh"):
		return event + "es"
	}
	return event + "s"
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return engine.FormatCount(n) + " " + what + "s"
}
