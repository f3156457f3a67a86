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

// Reports collects what the sessions of a chain that is run alone gave. Workers write, the terminal reads at the end.
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

// Row is the result for a row of a payload, which count from 1.
type Row struct {
	Row int `json:"row"`
	*chain.Report
}

// statuses of sessions that ended as they should, and of those that the end of a run may have cut.
var (
	endedWell = []string{"ok", "stopped"}
	committed = []string{"ok", "partial", "stopped"}
)

// Print writes one result in full or, for the rows of a payload, a line for each. cut means that the run did not finish:
// what had not succeeded by then runs again. ok reports whether everything succeeded.
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
