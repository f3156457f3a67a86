package answer

import (
	"fmt"
	"io"
	"time"

	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// Proof is the result of a proof. Kills are counted by their moment; those of spread trials also by their process.
type Proof struct {
	Scenario     string   `json:"scenario"`
	Same         bool     `json:"same"`
	Sessions     int64    `json:"sessions"`
	Trials       int      `json:"trials"`
	Kills        int      `json:"kills"`
	AtCommits    int      `json:"at_commits"`
	AtRequests   int      `json:"at_requests"`
	AtMessages   int      `json:"at_messages"`
	Coordinators int      `json:"of_coordinators"`
	Workers      int      `json:"of_workers"`
	Resumes      int      `json:"resumes"`
	Replayed     int64    `json:"replayed"`
	Again        int64    `json:"sent_again"`
	Confirmed    int64    `json:"confirmed"`
	Lost         int      `json:"lost"`
	Doubled      int      `json:"doubled"`
	Took         float64  `json:"took_seconds"`
	Difference   string   `json:"difference,omitempty"` // the first
	Parts        []string `json:"parts,omitempty"`      // of the result that differ
	Folder       string   `json:"folder,omitempty"`
}

// NewProof returns the result of the proof of a scenario.
func NewProof(scenario string, r *prove.Report) Proof {
	s, failed := r.Sum(), r.Failed()
	p := Proof{
		Scenario: scenario, Same: failed == nil, Sessions: r.Sessions, Trials: len(r.Trials), Kills: r.Kills(),
		AtCommits: s.Commits, AtRequests: s.Requests, AtMessages: s.Messages, Coordinators: s.Coordinators, Workers: s.Workers, Resumes: s.Resumes,
		Replayed: s.Replayed, Again: s.SentAgain, Confirmed: s.Confirmed, Lost: s.Lost, Doubled: s.Doubled, Took: r.Took.Seconds(), Folder: r.Folder,
	}
	if failed != nil {
		p.Difference, p.Parts = failed.First, failed.Parts
	}
	return p
}

// PrintProofs prints proofs as a table.
func PrintProofs(out io.Writer, all []Proof) error {
	w := show.NewTable(out)
	fmt.Fprintln(w, "\nSCENARIO\tSESSIONS\tTRIALS\tKILLS\tAT COMMITS\tAT REQUESTS\tAT MESSAGES\tCOORDINATORS\tWORKERS\tRESUMES\tREPLAYED\tSENT AGAIN\tCONFIRMED\tLOST\tDOUBLED\tTOOK\tVERDICT")
	for i := range all {
		p := &all[i]
		verdict := "the same"
		if !p.Same {
			verdict = "DIFFERENT"
		}
		show.Row(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", p.Scenario, p.Sessions, p.Trials, p.Kills, p.AtCommits, p.AtRequests, p.AtMessages,
			p.Coordinators, p.Workers, p.Resumes, p.Replayed, p.Again, p.Confirmed, p.Lost, p.Doubled, engine.FormatDuration(time.Duration(p.Took*float64(time.Second))), verdict)
	}
	return w.Flush()
}
