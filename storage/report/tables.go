package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
)

const (
	latestErrors = 5        // occurrences of each class
	shownFailed  = 8        // failed agents that are named
	shownFile    = 64 << 10 // maximum size of a file of the scenario
	shownChanges = 500
	unknown      = "–"
)

func isGone(err error) bool { return errors.Is(err, engine.ErrNotFound) }

// criterion is a success criterion with the measured value.
type criterion struct {
	Mark           mark
	Metric, Wanted string
	Measured       string
	Other          *mark // value of the other run
}

func criteriaOf(r *engine.RunRecord) []criterion {
	var all []criterion
	for i := range r.Verdict {
		j := &r.Verdict[i]
		all = append(all, criterion{Mark: judged(j), Metric: j.Criterion.Name(), Wanted: j.Criterion.Text, Measured: j.Shown})
	}
	return all
}

func judged(j *engine.Judgment) mark {
	switch {
	case j.Unknown:
		return mark{"warn", "unknown"}
	case j.Passed:
		return mark{"good", "pass"}
	default:
		return mark{"bad", "FAIL"}
	}
}

// figuresOf returns the key figures.
func figuresOf(r *engine.RunRecord, t *engine.Totals) []figure {
	asked := t.SentRequests()
	ended := t.Ended()
	all := []figure{
		{"Sessions", engine.FormatCount(ended), outcomesOf(t)},
		{"Failed or timed out", share(t.Bad(), ended), engine.FormatCount(t.Bad()) + " sessions"},
		{"Duration", engine.FormatDuration(t.Peaks.Elapsed), "longest cycle " + engine.FormatDuration(t.Peaks.Cycle)},
	}
	if s := t.Peaks.Elapsed.Seconds(); s > 0 {
		all = append(all, figure{"Throughput", digits(float64(ended)/s) + " sessions/s", digits(float64(asked.Requests)/s) + " requests/s on average"})
	}
	if h := t.Latency(); h.Count() > 0 {
		about := fmt.Sprintf("p50 %s, p99 %s", engine.FormatDuration(h.Quantile(0.5)), engine.FormatDuration(h.Quantile(0.99)))
		if h == &t.Response {
			about += ", from the intended start"
		}
		all = append(all, figure{"Session time, p95", engine.FormatDuration(h.Quantile(0.95)), about})
	}
	all = append(all, figure{"Requests", engine.FormatCount(asked.Requests), fmt.Sprintf("%s retries, %s answers with status 429", engine.FormatCount(asked.Retries), engine.FormatCount(asked.RateLimited))})
	if u := &asked.Usage; u.Calls > 0 || u.Hits > 0 {
		about := fmt.Sprintf("%s calls, %s tokens in, %s out", engine.FormatCount(u.Calls), engine.FormatCount(u.Input), engine.FormatCount(u.Output))
		if text := view.CacheText(u); text != "" {
			about += "; tokens in: " + text
		}
		if u.Doubtful > 0 {
			about += fmt.Sprintf("; usage of %s contradicts itself", engine.Counted(u.Doubtful, "call", "calls"))
		}
		if u.Batched > 0 {
			about += fmt.Sprintf("; %s calls in batches", engine.FormatCount(u.Batched))
		}
		all = append(all, figure{"Model cost", engine.FormatCost(u), about})
	}
	if n := t.Peaks.Memory; n > 0 {
		all = append(all, figure{"Peak memory", engine.FormatBytes(int64(n)), "of Throng itself"}) //nolint:gosec // fits
	}
	if n := max(t.Peaks.Connections, t.Peaks.ServerConnections); n > 0 && (r.Settings.Remote || t.Peaks.ServerConnections > 0) { // not of the local store
		about := "by Throng"
		if server := t.Peaks.ServerConnections; server > 0 {
			about = fmt.Sprintf("%d by Throng, %d by all clients of the server", t.Peaks.Connections, server)
		}
		all = append(all, figure{"Peak DB connections", strconv.Itoa(n), about})
	}
	if t.Peaks.Lag > 0 {
		all = append(all, figure{"Peak schedule lag", engine.FormatDuration(t.Peaks.Lag), ""})
	}
	return append(all, figure{"Acted", share(t.Acted, ended), fmt.Sprintf("%s sessions; %s events", engine.FormatCount(t.Acted), engine.FormatCount(t.Events))})
}

func outcomesOf(t *engine.Totals) string {
	var parts []string
	for o := engine.OK; o < engine.Cut; o++ {
		if n := t.Outcomes[o]; n > 0 {
			parts = append(parts, engine.FormatCount(n)+" "+view.OutcomeText(o))
		}
	}
	return strings.Join(parts, ", ")
}

// share formats a fraction in percent. 0% and 100% are exact.
func share(n, all int64) string {
	switch percent := 100 * float64(n) / float64(all); {
	case all == 0:
		return unknown
	case n == 0:
		return "0%"
	case n == all:
		return "100%"
	case percent < 0.1:
		return "under 0.1%"
	case percent > 99.9:
		return "over 99.9%"
	default:
		return fmt.Sprintf("%.1f%%", percent)
	}
}

func timesOf(t *engine.Totals) (rows [][]string) {
	for _, h := range []struct {
		name string
		spread
	}{
		{"Whole session", &t.Total},
		{"Services and steps", &t.Service},
		{"Throttled", &t.Throttled},
		{"Queued", &t.Queue},
		{"From the intended start", &t.Response},
	} {
		if h.Count() == 0 && len(rows) == 4 { // agents did not arrive over time
			continue
		}
		rows = append(rows, append([]string{h.name}, view.Durations(h.Count(), h.Quantile(0.5), h.Quantile(0.95), h.Quantile(0.99), h.Max())...))
	}
	return rows
}

// errorClass is an error class with its latest messages.
type errorClass struct {
	Class, Count string
	Latest       []errorNote
}

type errorNote struct{ Where, Message string }

func errorsOf(all [][]engine.ErrorNote, name func(int) (string, error)) (out []errorClass, err error) {
	for _, notes := range all {
		c := errorClass{Class: notes[0].Class.String(), Count: engine.FormatCount(notes[0].Count)}
		for i := range notes {
			n := &notes[i]
			if name != nil {
				if n.Name, err = name(n.Agent); err != nil {
					return nil, err
				}
			}
			c.Latest = append(c.Latest, errorNote{fmt.Sprintf("cycle %d, agent %s, step %s", n.Cycle, n.AgentName(), n.Path), n.Message})
		}
		out = append(out, c)
	}
	return out, nil
}

// failedOf names the first agents with failed sessions.
func failedOf(t *engine.Totals, name func(int) (string, error)) (string, error) {
	first, all := t.Failures(shownFailed)
	if all == 0 {
		return "", nil
	}
	names := make([]string, len(first))
	for i, agent := range first {
		names[i] = strconv.Itoa(agent)
		if name != nil {
			var err error
			if names[i], err = name(agent); err != nil {
				return "", err
			}
		}
	}
	text := engine.FormatCount(int64(all)) + " agents had a session that failed or timed out: " + strings.Join(names, ", ")
	if more := all - len(first); more > 0 {
		text += fmt.Sprintf(" and %s more", engine.FormatCount(int64(more)))
	}
	return text + ".", nil
}

// anomaly is a period in which a value was beyond its threshold.
type anomaly struct {
	Mark                   mark
	Metric, Lasted, Since  string
	Worst, Threshold, Then string
}

func anomaliesOf(odd *health.Anomalies) (all []anomaly) {
	for _, n := range odd.All() {
		level := mark{"warn", n.Level.String()}
		if n.Level == health.Critical {
			level.Tone = "bad"
		}
		all = append(all, anomaly{level, string(n.Metric), engine.FormatDuration(time.Duration(n.Seconds) * time.Second), stamp(n.Since), n.Worst, n.Threshold, n.Advice})
	}
	if odd.Gaps > 0 {
		all = append(all, anomaly{mark{"warn", "gap"}, "no figures", engine.FormatDuration(odd.Gaps), stamp(odd.GapSince), unknown, unknown, "the machine slept, or the run was interrupted"})
	}
	return all
}

// forecast is the forecast and the result.
type forecast struct {
	From string
	Rows []view.ForecastFact
}

func newForecast(r *engine.RunRecord, t *engine.Totals) *forecast {
	if r.Forecast == nil {
		return nil
	}
	return &forecast{view.ForecastBasis(r.Forecast), view.CompareForecast(r, t)}
}

// against is the comparison with another run.
type against struct {
	*Comparison
	When     string
	State    mark
	Criteria []criterion
	Figures  [][3]string
}

// Last returns the last compared cycle.
func (a *against) Last() int { return a.To - 1 }

func newAgainst(r *engine.RunRecord, t *engine.Totals, c *Comparison) *against {
	a := &against{Comparison: c, When: when(&c.Run), State: state(&c.Run), Criteria: criteriaOf(r)}
	for i := range a.Criteria {
		for k := range c.Run.Verdict {
			if j := &c.Run.Verdict[k]; j.Criterion.Name() == a.Criteria[i].Metric && j.Criterion.Text == a.Criteria[i].Wanted {
				a.Criteria[i].Other = &mark{judged(j).Tone, j.Shown}
			}
		}
	}
	others := map[string]string{}
	for _, f := range figuresOf(&c.Run, &c.Totals) {
		others[f.Name] = f.Value
	}
	for _, f := range figuresOf(r, t) {
		a.Figures = append(a.Figures, [3]string{f.Name, cmp.Or(others[f.Name], unknown), f.Value})
	}
	return a
}

// file is a file of the scenario.
type file struct{ Name, Size, Text string }

// filesOf returns the files of the scenario. Large and binary files have no text.
func filesOf(s *engine.Source) (all []file) {
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		data := s.Files[name]
		if strings.HasPrefix(name, engine.OwnFiles) {
			continue
		}
		all = append(all, fileOf(name, data))
	}
	return all
}

func fileOf(name string, data []byte) file {
	f := file{Name: name, Size: engine.FormatBytes(int64(len(data)))}
	if len(data) <= shownFile && utf8.Valid(data) {
		f.Text = string(data)
	}
	return f
}

// flatten returns the values of a JSON object in order. Values of nested objects have names such as budget.usd.
func flatten(text json.RawMessage) (all [][2]string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		key := fmt.Sprint(name)
		switch {
		case len(value) > 2 && value[0] == '{':
			inner, err := flatten(value)
			if err != nil {
				return nil, err
			}
			for _, v := range inner {
				all = append(all, [2]string{key + "." + v[0], v[1]})
			}
		case string(value) == "{}":
		default:
			all = append(all, [2]string{key, plain(value)})
		}
	}
	return all, nil
}

// plain formats a JSON value for users: a text without quotes.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
