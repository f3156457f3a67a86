package prove

import (
	"os"
	"reflect"
	"slices"
	"testing"
)

// TestSpreadTrials checks which trials are spread over workers.
func TestSpreadTrials(t *testing.T) {
	for _, tt := range []struct {
		fleet Fleet
		want  []int
	}{
		{Fleet{}, nil},
		{Fleet{Workers: 2}, []int{2, 6}},
		{Fleet{Workers: 3, Always: true}, []int{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		var got []int
		for trial := 1; trial <= 8; trial++ {
			if tt.fleet.spreads(trial) {
				got = append(got, trial)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: got %v, want %v", tt.fleet, got, tt.want)
		}
	}
}

// TestPlansOfSpreadTrials checks that coordinators and workers die at the moments that they have, each worker at most once in a process
// of the run, and that each worker has room for a session.
func TestPlansOfSpreadTrials(t *testing.T) {
	counts := Counts{Sending: 300, Request: 300, Answer: 250, Commit: 120}
	owner, worker := Counts{Request: 300, Commit: 150}, Counts{Sending: 100, Answer: 90, Message: 200}
	c := Config{Kills: 300, Seed: 7, Fleet: Fleet{Workers: 3, Always: true}}
	plans := c.trials(&counts)
	if !reflect.DeepEqual(plans, c.trials(&counts)) {
		t.Error("the same seed gave a different plan")
	}
	of, at, together := map[int]int{}, map[Moment]int{}, 0
	for _, p := range plans {
		for _, r := range p.rounds(&owner, &worker) {
			seen := map[int]bool{}
			for i, k := range r.kills {
				from := &owner
				if k.Worker > 0 {
					from = &worker
				}
				if k.N < 1 || k.N > from[k.Moment] || seen[k.Worker] || k.Worker == 0 && i < len(r.kills)-1 {
					t.Errorf("trial %d: got %v", p.trial, r.kills)
				}
				seen[k.Worker] = true
				of[k.Worker]++
				at[k.Moment]++
			}
			if len(r.kills) > 1 {
				together++
			}
			if r.settings.limit < 3 {
				t.Errorf("trial %d: limit %d for 3 workers", p.trial, r.settings.limit)
			}
		}
	}
	if of[0] < 100 || of[0] > 200 || of[1] < 20 || of[2] < 20 || of[3] < 20 || together < 20 {
		t.Errorf("got %v kills by worker, and %d processes with several", of, together)
	}
	for _, m := range []Moment{Sending, Request, Answer, Message, Commit} {
		if at[m] < 15 {
			t.Errorf("got %d kills at %s", at[m], m)
		}
	}
}

// TestWorkersOfARound checks that a round hands each worker its point, for its first start only, and that it counts the kills that
// happened.
func TestWorkersOfARound(t *testing.T) {
	r := round{kills: []Kill{{3, Point{Sending, 4}}, {1, Point{Message, 2}}, {0, Point{Commit, 9}}}}
	ch := child{dir: t.TempDir()}
	r.doom(&ch, 5)
	if ch.point != (Point{Commit, 9}) {
		t.Errorf("the process dies at %s", ch.point)
	}
	env := map[string]string{KillEnv: ch.point.String(), workersEnv: encoded(ch.workers)}
	c := FromEnv(func(name string) string { return env[name] })
	inherited := []string{"HOME=/home/me", KillEnv + "=commit:9", CountEnv + "=counts", workersEnv + "=[]"}
	for _, tt := range []struct {
		worker, start int
		want          []string
	}{
		{1, 1, []string{"HOME=/home/me", KillEnv + "=message:2", CountEnv + "=" + countsOf(ch.dir, 5, 1)}},
		{1, 2, []string{"HOME=/home/me"}},
		{2, 1, []string{"HOME=/home/me"}},
		{3, 1, []string{"HOME=/home/me", KillEnv + "=sending:4", CountEnv + "=" + countsOf(ch.dir, 5, 3)}},
		{4, 1, []string{"HOME=/home/me"}},
	} {
		if got := c.WorkerEnv(inherited, tt.worker, tt.start); !slices.Equal(got, tt.want) {
			t.Errorf("start %d of worker %d: got %q, want %q", tt.start, tt.worker, got, tt.want)
		}
	}
	for file, text := range map[string]string{countsOf(ch.dir, 5, 3): "sending 4\nmessage 9\n", countsOf(ch.dir, 5, 1): "message 1\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := r.happened(ch.dir, 5, false), []Kill{{3, Point{Sending, 4}}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := r.happened(ch.dir, 4, true), []Kill{{0, Point{Commit, 9}}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSums checks that kills are counted by moment and by process, and how trials are described.
func TestSums(t *testing.T) {
	r := Report{Trials: []Trial{
		{Number: 1, Kills: []Kill{{0, Point{Commit, 1}}, {0, Point{Answer, 2}}}, Resumes: 2},
		{Number: 2, Workers: 3, Kills: []Kill{{2, Point{Message, 7}}, {1, Point{Sending, 3}}, {0, Point{Request, 4}}}, Resumes: 1},
	}}
	want := Sum{Commits: 1, Requests: 3, Messages: 1, Coordinators: 1, Workers: 2, Resumes: 3}
	if got := r.Sum(); !reflect.DeepEqual(got, want) || r.Kills() != 5 {
		t.Errorf("%d kills: got %+v, want %+v", r.Kills(), got, want)
	}
	for i, want := range []string{
		"trial 1, killed at commit:1, answer:2",
		"trial 2 over 3 workers, killed at message:7 of worker 2, sending:3 of worker 1, request:4",
	} {
		if got := r.Trials[i].Describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&Trial{Workers: 3}).Describe(); got != "the undisturbed run over 3 workers" {
		t.Errorf("got %q", got)
	}
}
