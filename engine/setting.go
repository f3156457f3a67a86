package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/duration"
)

// Setting is one row of [SettingTable], the complete definition of a setting. Flags, environment variables, forms,
// run.json, orders to a run in progress, the guide and the manual page derive from it.
type Setting struct {
	// Name is the name of the flag without its dashes, and the key in saved settings, in orders and in the journal.
	Name string
	// Title is the label of its field, Group the heading above it. A setting without a title has its own flag or form and
	// no text: see [Setting.HasText].
	Title, Group string
	// Help describes what the setting does, as a phrase.
	Help string
	// LiveHelp replaces Help in a run in progress; "" keeps it.
	LiveHelp string
	// Unit is the placeholder for the value in usage texts: N, T, USD.
	Unit string
	// Count is what a number counts, such as sessions, and Zero what 0 means, such as unlimited; "" if the number says it.
	Count, Zero string
	// Env lists the variables of earlier Python runners that set it, EnvNot those that set the opposite of a switch. Its
	// own variable, [Setting.Variable], takes precedence.
	Env, EnvNot []string
	// Live settings can change while the run is in progress.
	Live bool
	// Fixed settings cannot change when a run resumes, because another value would make it a different run.
	Fixed bool
	// Timing settings influence which sessions fail, so changing one makes a run in progress inexact.
	Timing bool
	field  func(s *Settings) settingValue
	// live is the value in a run in progress, if that has another form than field.
	live func(s *Settings) settingValue
}

// settingValue parses and formats one field of the settings.
type settingValue interface {
	Set(text string) error // parses user input
	String() string        // formats for Set
	json() any             // nil omits the value
	fromJSON(data []byte) error
}

// HasText reports whether the setting has a textual form: a flag with its name, an entry in the saved settings, and a
// form field.
func (t *Setting) HasText() bool { return t.Title != "" }

// Matters reports whether another value can change the results or the speed of a run.
func (t *Setting) Matters() bool {
	switch t.Group {
	case groupConcurrency, groupLength, groupTimeouts, groupModels, groupBudget:
		return t.HasText() && t.Name != PresetSetting
	}
	return false
}

// Set parses a value from a user. It does not check other settings; see [Settings.Validate].
func (t *Setting) Set(s *Settings, text string) error { return t.field(s).Set(strings.TrimSpace(text)) }

// Show formats the value for Set.
func (t *Setting) Show(s *Settings) string { return t.field(s).String() }

// SetLive is Set for a run in progress.
func (t *Setting) SetLive(s *Settings, text string) error {
	return t.inProgress(s).Set(strings.TrimSpace(text))
}

// ShowLive formats the value for SetLive.
func (t *Setting) ShowLive(s *Settings) string { return t.inProgress(s).String() }

func (t *Setting) inProgress(s *Settings) settingValue {
	if t.live != nil {
		return t.live(s)
	}
	return t.field(s)
}

// Variable returns the environment variable of the setting: THRONG_ and the name, such as THRONG_MAX_CONCURRENT.
func (t *Setting) Variable() string {
	return "THRONG_" + strings.ToUpper(strings.ReplaceAll(t.Name, "-", "_"))
}

// Key returns the name in JSON. The keys of durations end in _seconds.
func (t *Setting) Key() string {
	key := strings.ReplaceAll(t.Name, "-", "_")
	if t.Unit == unitTime {
		key += "_seconds"
	}
	return key
}

// FindSetting returns the setting with this name, or nil.
func FindSetting(name string) *Setting {
	i := slices.IndexFunc(SettingTable, func(t Setting) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &SettingTable[i]
}

// Standard returns the default as text.
func (t *Setting) Standard() string {
	s := DefaultSettings()
	return t.Show(&s)
}

// MarshalJSON writes the settings under the keys of the table.
func (s Settings) MarshalJSON() ([]byte, error) {
	all := make(map[string]any, len(SettingTable))
	for i := range SettingTable {
		if v := SettingTable[i].field(&s).json(); v != nil {
			all[SettingTable[i].Key()] = v
		}
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads the output of MarshalJSON. A missing key leaves its setting unchanged. An unknown key is an
// error.
func (s *Settings) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for i := range SettingTable {
		t := &SettingTable[i]
		if text, ok := all[t.Key()]; ok {
			if err := t.field(s).fromJSON(text); err != nil {
				return fmt.Errorf("setting %s: %w", t.Name, err)
			}
			delete(all, t.Key())
		}
	}
	for key := range all {
		return fmt.Errorf("unknown setting %q", key)
	}
	return nil
}

// value is a field of type T with a textual form.
type value[T any] struct {
	of   *T
	read func(text string) (T, error)
	show func(T) string
	out  func(T) any // nil writes the value itself
	in   func(data []byte) (T, error)
}

func (v value[T]) Set(text string) error {
	x, err := v.read(text)
	if err == nil {
		*v.of = x
	}
	return err
}

func (v value[T]) String() string { return v.show(*v.of) }

func (v value[T]) json() any {
	if v.out != nil {
		return v.out(*v.of)
	}
	return *v.of
}

func (v value[T]) fromJSON(data []byte) (err error) {
	if v.in == nil {
		return json.Unmarshal(data, v.of)
	}
	*v.of, err = v.in(data)
	return err
}

func wholeValue(of *int) settingValue {
	return value[int]{of: of, show: strconv.Itoa, read: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		return n, expected(err, text, "a whole number")
	}}
}

// limitValue is the limit of a run in progress: a number that a person sets, or automatic.
type limitValue struct{ of *Settings }

func (v limitValue) Set(text string) error {
	s := v.of
	if text == Automatic {
		if s.Manual = false; !s.Governed() {
			s.Governor = Adaptive
		}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return expected(err, text, "a whole number or "+Automatic)
	}
	s.Limit, s.Manual = n, true
	return nil
}

func (v limitValue) String() string {
	if v.of.Governed() {
		return Automatic
	}
	return strconv.Itoa(v.of.Limit)
}

func (limitValue) json() any             { return nil }
func (limitValue) fromJSON([]byte) error { return nil }

func countValue(of *int64) settingValue {
	return value[int64]{of: of, show: func(n int64) string { return strconv.FormatInt(n, 10) }, read: func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, expected(err, text, "a whole number")
	}}
}

func seedValue(of *uint64) settingValue {
	return value[uint64]{of: of, show: func(n uint64) string { return strconv.FormatUint(n, 10) }, read: func(text string) (uint64, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		return n, expected(err, text, "a whole number, 0 or more")
	}}
}

func numberValue(of *float64) settingValue {
	return value[float64]{of: of, show: decimal, read: func(text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		return f, expected(err, text, "a number")
	}}
}

// percentValue is a percentage, which can be typed without the percent sign.
func percentValue(of *float64) settingValue {
	return value[float64]{of: of, show: func(f float64) string { return decimal(f) + "%" }, read: func(text string) (float64, error) {
		f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
		return f, expected(err, text, "a percentage")
	}}
}

// bytesValue is an amount of data such as 200MB, in bytes in JSON. 0 and off keep nothing.
func bytesValue(of *int64) settingValue {
	return value[int64]{
		of: of,
		show: func(n int64) string {
			if n == 0 {
				return "0"
			}
			return MemoryLimit{Bytes: n}.String()
		},
		read: func(text string) (int64, error) {
			if text == "0" {
				return 0, nil
			}
			m, err := ParseMemory(text)
			if err != nil || m.Share > 0 {
				return 0, fmt.Errorf("%q is not an amount of data such as 200MB", text)
			}
			return m.Bytes, nil
		},
	}
}

// timeValue is a duration, in seconds in JSON.
func timeValue(of *time.Duration) settingValue {
	return value[time.Duration]{
		of: of, show: duration.Format, read: duration.Parse,
		out: func(d time.Duration) any { return d.Seconds() },
		in: func(data []byte) (d time.Duration, err error) {
			var seconds float64
			err = json.Unmarshal(data, &seconds)
			return time.Duration(math.Round(seconds * float64(time.Second))), err
		},
	}
}

func switchValue(of *bool) settingValue {
	return value[bool]{of: of, read: ParseSwitch, show: func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	}}
}

// ParseSwitch parses on or off, and their common synonyms.
func ParseSwitch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1":
		return true, nil
	case "off", "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is not on or off", text)
}

// choiceValue is one of several words; "" means the usual one. what names the kind of choice in errors.
func choiceValue(of *string, what, usual string, words func() []string) settingValue {
	return value[string]{
		of: of,
		show: func(word string) string {
			if word == "" {
				return usual
			}
			return word
		},
		read: func(text string) (string, error) {
			if !slices.Contains(words(), text) {
				return "", fmt.Errorf("unknown %s %q; choose %s", what, text, OrList(words()))
			}
			return text, nil
		},
	}
}

// OrList joins words as alternatives: a, b or c.
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// plainValue is a field with a JSON form and no textual form. Its zero value is omitted from JSON.
func plainValue[T any](of *T, zero func(T) bool) value[T] {
	return value[T]{
		of:   of,
		show: func(v T) string { return fmt.Sprint(v) },
		read: func(string) (v T, err error) { return v, errors.New("has no textual form") },
		out: func(v T) any {
			if zero(v) {
				return nil
			}
			return v
		},
	}
}

// expected returns an error that describes the expected text, or nil if err is nil.
func expected(err error, text, want string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is not %s", text, want)
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// TimeoutSuffix ends the name of a service's tunable that makes a run inexact.
const TimeoutSuffix = ".timeout" // of a service's tunable that makes a run inexact

// LiveSettings returns the names of the settings that can change while a run is in progress. Changes are journaled
// under these names, so that a resumed run applies them.
func LiveSettings() []string {
	var names []string
	for i := range SettingTable {
		if SettingTable[i].Live {
			names = append(names, SettingTable[i].Name)
		}
	}
	return names
}

// FindLiveSetting returns the setting with this name that can change while a run is in progress, or nil.
func FindLiveSetting(name string) *Setting {
	if t := FindSetting(name); t != nil && t.Live {
		return t
	}
	return nil
}

// Restore applies the changes of an earlier part of the run, by name. They were validated when they were made. Unknown
// names and texts are ignored.
func (s *Settings) Restore(texts map[string]string) {
	for i := range SettingTable {
		t, next := &SettingTable[i], *s
		if text, ok := texts[t.Name]; ok && t.Live && t.SetLive(&next, text) == nil {
			*s = next
		}
	}
}

// Tunables returns the settings of s that can change while a run is in progress.
func (s *Settings) Tunables() []Tunable {
	var all []Tunable
	for i := range SettingTable {
		if t := &SettingTable[i]; t.Live {
			all = append(all, Tunable{t.Name, t.Title, t.ShowLive(s), cmp.Or(t.LiveHelp, t.Help)})
		}
	}
	return all
}

// Assignment is a new value for a setting, in the format of its flag.
type Assignment struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Change is a setting whose value changed.
type Change struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Trimmed returns the assignment without surrounding blanks.
func (a Assignment) Trimmed() Assignment {
	return Assignment{strings.TrimSpace(a.Name), strings.TrimSpace(a.Value)}
}

// Subject returns the display name of what was changed: the title of a setting, or else the name.
func Subject(name string) string {
	if name == LimitChange {
		name = LimitSetting
	}
	if t := FindSetting(name); t != nil && t.HasText() {
		return t.Title
	}
	if name == PhaseChange || name == RestartChange {
		return "Run"
	}
	return name
}
