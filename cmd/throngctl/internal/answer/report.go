package answer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/throng-sim/throng/engine/chain"
)

// Reports collects the reports of a single chain. Workers add them; the terminal reads them at the end.
type Reports struct {
	mu  sync.Mutex
	all map[int]*chain.Report // by agent
}

// NewReports returns an empty collection.
func NewReports() *Reports { return &Reports{all: map[int]*chain.Report{}} }

// Len returns the number of reports.
func (r *Reports) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// Add adds the report of a session. It may be called from any goroutine.
func (r *Reports) Add(one *chain.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[one.Agent] = one
}

// Row is the report for a row of a payload. Rows are counted from 1.
type Row struct {
	Row int `json:"row"`
	*chain.Report
}

// Statuses of sessions that succeeded, and of sessions that count although the run did not finish.
var (
	endedWell = []string{"ok", "stopped"}
	committed = []string{"ok", "partial", "stopped"}
)

// Print writes one report in full or, for the rows of a payload, a line each. cut means that the run did not finish:
// sessions without success run again later and are left out. ok reports whether all sessions succeeded.
func (r *Reports) Print(w io.Writer, rows, cut bool) (ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	ok = true
	for _, one := range r.sorted() {
		if cut && !slices.Contains(committed, one.Status) {
			continue
		}
		ok = ok && slices.Contains(endedWell, one.Status)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		var value any = Row{one.Agent + 1, one}
		if !rows {
			enc.SetIndent("", "  ")
			value = one
		}
		if err := enc.Encode(value); err != nil {
			return false, err
		}
	}
	_, err = w.Write(b.Bytes())
	return ok, err
}

func (r *Reports) sorted() []*chain.Report {
	var all []*chain.Report
	for _, one := range r.all {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *chain.Report) int { return cmp.Compare(a.Agent, b.Agent) })
	return all
}
