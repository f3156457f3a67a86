package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/marks"
)

// TestMarks names, tags and stars a run, and finds it by all three.
func TestMarks(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	data := filepath.Join(t.TempDir(), "data")
	first, second := newRun(t, data), newRun(t, data)
	in := func(args ...string) []string { return append(args, "--data", data) }
	want(t, exitDone, "", in("name", first, "Friday", "prices"), "Friday prices\n")
	want(t, exitDone, "", in("name", "friday prices"), "Friday prices\n") // RUN may be a name
	want(t, exitDone, "", in("tag", "Friday prices", "+b2b", "prices", "+old"), "b2b old prices\n")
	want(t, exitDone, "", in("tag", first, "-old", "-unknown"), "b2b prices\n")
	want(t, exitUsage, "", in("tag", first, "+two words"), "cannot use the tag")
	want(t, exitDone, "", in("tag", second), "has no tags")
	want(t, exitDone, "", in("star", first), "has a star")
	want(t, exitDone, "", in("star", second), "has a star")
	want(t, exitDone, "", in("star", second, "--off"), "has no star")

	lists := func(wanted []string, args ...string) {
		t.Helper()
		_, out, stderr := ctl(t, in(append([]string{"runs", "--json"}, args...)...)...)
		var all []struct {
			Run, Name string
			Bytes     int64 `json:"stored_bytes"`
		}
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			t.Fatal(err, stderr)
		}
		var got []string
		for _, r := range all {
			got = append(got, r.Run)
			if r.Bytes == 0 {
				t.Errorf("the size of %s is not known", r.Run)
			}
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("runs %q: got %q, want %q", args, got, wanted)
		}
	}
	lists([]string{first, second})
	lists([]string{first}, "--star")
	lists([]string{first}, "--tag", "b2b", "--tag", "Prices")
	lists(nil, "--tag", "b2b", "--tag", "old")
	lists([]string{first}, "FRIDAY")
	lists([]string{first}, "friday", "failures")
	want(t, exitDone, "", in("runs", "friday"), "★ Friday prices", "b2b prices", "failures")
	want(t, exitDone, "", in("runs", "monday"), "No runs match.")

	_, text, _ := ctl(t, in("export", "Friday prices", "--what", "run")...)
	var manifest struct {
		Name string
		Tags []string
	}
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || manifest.Name != "Friday prices" || strings.Join(manifest.Tags, " ") != "b2b prices" {
		t.Errorf("run.json: got %+v, %v", manifest, err)
	}
	want(t, exitDone, "", in("name", first, ""), "shoppers")
	want(t, exitUsage, "", in("status", "nothing"), "")
}

func TestTagChanges(t *testing.T) {
	for line, want := range map[string]string{
		"tag r +a -b -h":             "tag r +a −b −h",
		"tag --data d r -b --json":   "tag --data d r −b --json",
		"tag -h":                     "tag -h",
		"tag r -":                    "tag r -",
		"run r -b":                   "run r -b",
		"tag --log-file -x r -y --z": "tag --log-file -x r −y --z",
	} {
		if got := strings.Join(marks.TagChanges(strings.Fields(line)), " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
