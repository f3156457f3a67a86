package power

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

func TestSupplies(t *testing.T) {
	of := func(files map[string]string) fstest.MapFS {
		list := fstest.MapFS{}
		for name, text := range files {
			list[name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
		return list
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Source
	}{
		{"a server", nil, Source{false, -1}},
		{"a laptop on the mains", map[string]string{"AC/type": "Mains", "BAT0/type": "Battery", "BAT0/status": "Charging", "BAT0/capacity": "61"}, Source{false, 61}},
		{"a laptop on its battery", map[string]string{"AC/type": "Mains", "BAT0/type": "Battery", "BAT0/status": "Discharging", "BAT0/capacity": "37"}, Source{true, 37}},
		{"a mouse", map[string]string{"hid/type": "Battery", "hid/scope": "Device", "hid/status": "Discharging", "hid/capacity": "5"}, Source{false, -1}},
	} {
		if got, err := supplies(of(c.files)); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	if _, err := supplies(os.DirFS(filepath.Join(t.TempDir(), "nowhere"))); !errors.Is(err, ErrUnknown) {
		t.Errorf("a system without the list: %v", err)
	}
}

func TestPmset(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Source
	}{
		{"on the mains", "Now drawing from 'AC Power'\n -InternalBattery-0 (id=4653155)\t100%; charged; 0:00 remaining present: true\n", Source{false, 100}},
		{"on its battery", "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4653155)\t37%; discharging; 2:10 remaining present: true\n", Source{true, 37}},
		{"a desktop", "Now drawing from 'AC Power'\n", Source{false, -1}},
	} {
		if got, err := pmset(c.text); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	if _, err := pmset("pmset: not found"); !errors.Is(err, ErrUnknown) {
		t.Errorf("another error: %v", err)
	}
}
