// Package proof has the proofs of throngctl prove: their scenarios, their workers, and the explanation of what they found.
package proof

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/internal/prove"
)

// Proof is a scenario to prove, and how to run it.
type Proof struct {
	Name string
	prove.Config
}

// faulty are faults that are retried often enough to leave results unchanged.
var faulty = []string{"--retry-wait=1ms", "--retries=12", "--mock-fault=server_error=0.03", "--mock-fault=cut=0.04", "--mock-fault=bad_body=0.02"}

// small are the built-in scenarios in a size that runs in a moment. The file of world sets the waits between attempts, so
// that scenario runs without faults.
var small = []struct {
	name   string
	faults []string
	flags  []string
}{
	{"shopping", faulty, []string{"--set=agents=40", "--set=eagerness=8", "--set=llm_share=0.2", "--cycles=4"}},
	{"conversation", faulty, []string{"--set=pairs=12", "--set=turns=6"}},
	{"world", nil, []string{"--set=hours=5"}},
	{"analysis", faulty, []string{"--cycles=20"}},
}

// BuiltIn returns proofs of all built-in scenarios, which share the kills.
func BuiltIn(shared *prove.Config) (all []Proof) {
	for i, s := range small {
		one := *shared
		one.Kills = shared.Kills*(i+1)/len(small) - shared.Kills*i/len(small)
		if one.Kills == 0 {
			continue
		}
		one.Run = slices.Concat([]string{s.name, fmt.Sprintf("--seed=%d", shared.Seed), "--mock-latency=none"}, s.flags, s.faults)
		all = append(all, Proof{s.name, one})
	}
	return all
}

// Explain prints what failed and how to repeat it, which folders were kept, and the sum of the kills of successful proofs.
func Explain(out io.Writer, all []Proof, reports []*prove.Report) {
	kills, failed := 0, false
	for i, r := range reports {
		kills += r.Kills()
		if f := r.Failed(); f != nil {
			failed = true
			fmt.Fprintf(out, "\n%s, %s: %s\nwhat differs: %s\n%s\n", all[i].Name, f.Describe(), f.First, strings.Join(f.Parts, ", "), all[i].again(f))
		}
		if r.Folder != "" {
			fmt.Fprintf(out, "the folders of %s are in %s\n", all[i].Name, r.Folder)
		}
	}
	if !failed {
		fmt.Fprintf(out, "%d kills: nothing lost, nothing duplicated\n", kills)
	}
}

// again says how to repeat a trial.
func (p *Proof) again(failed *prove.Trial) string {
	run := strings.Join(p.Run, " ")
	if failed.Number == 0 {
		return fmt.Sprintf("compare with one process: throngctl run %s --fleet %s", run, crew.LocalFleet(failed.Workers))
	}
	switch {
	case p.Fleet.Always:
		run += " --fleet " + crew.LocalFleet(p.Fleet.Workers)
	case p.Fleet.Workers == 0:
		run += " --fleet " + none
	}
	return fmt.Sprintf("repeat these kills and keep the folders: throngctl prove %s --kills %d --only %d --keep", run, p.Kills, failed.Number)
}
