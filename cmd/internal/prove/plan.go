package prove

import "math/rand/v2"

// mostKills is the largest number of kills of one trial.
const mostKills = 3

// limits are concurrency limits; every process of a trial has another one.
var limits = []int{1, 2, 7, 50}

// death is one planned kill: its process, its point in the remaining work, and the settings of the process until then.
type death struct {
	worker   int // from 1; 0 is the process that owns the run
	moment   Moment
	after    float64 // share of the remaining work
	settings settings
}

// settings are the settings of one process of a trial. Results must not depend on them.
type settings struct {
	limit       int
	governed    bool // the run's governor moves the limit
	checkpoints bool // as often as possible
}

// plan is the plan of one trial: its deaths, and the settings of the last process.
type plan struct {
	trial  int
	spread bool // over workers
	deaths []death
	last   settings
}

// planOf draws the plan of a trial from the seed. Every second kill is at a commit, or at a message of a worker.
func (c *Config) planOf(trial int, counts *Counts) plan {
	draw := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
	p := plan{trial: trial, spread: c.Fleet.spreads(trial)}
	p.last = c.settingsOf(draw, p.spread)
	doomed := map[int]bool{} // the workers that die before the process that owns the run
	for i := range 1 + draw.IntN(mostKills) {
		d := death{moment: Commit, after: draw.Float64(), settings: c.settingsOf(draw, p.spread)}
		if p.spread && draw.IntN(2) == 0 {
			d.worker = 1 + draw.IntN(c.Fleet.Workers)
		}
		if doomed[d.worker] {
			d.worker = 0
		}
		if d.worker > 0 {
			d.moment, doomed[d.worker] = Message, true
		} else {
			clear(doomed)
		}
		if at := counts.requests(p.spread, d.worker); len(at) > 0 {
			if m := at[draw.IntN(len(at))]; (trial+i)%2 == 0 {
				d.moment = m
			}
		}
		p.deaths = append(p.deaths, d)
	}
	return p
}

func (c *Config) settingsOf(draw *rand.Rand, spread bool) settings {
	limit := limits[draw.IntN(len(limits))]
	if spread { // so that each worker has sessions
		limit = max(limit, c.Fleet.Workers)
	}
	return settings{min(limit, c.limit()), draw.IntN(4) == 0, draw.IntN(2) == 0}
}

// requests are the moments of requests in a process of a run. In a spread run, workers send the requests; the mocks are in the process
// that owns the run.
func (c *Counts) requests(spread bool, worker int) (all []Moment) {
	for _, m := range []Moment{Sending, Request, Answer} {
		if c[m] > 0 && (!spread || (m == Request) == (worker == 0)) {
			all = append(all, m)
		}
	}
	return all
}

// round is one process of a trial, with the workers that it starts. At most one kill is planned for each of them; a kill of the process
// itself is the last.
type round struct {
	kills    []Kill
	settings settings
}

// rounds returns the processes of a trial, according to the counts of an undisturbed run: of its own process and of one worker. Work that
// a process finds done counts as past.
func (p *plan) rounds(owner, worker *Counts) (all []round) {
	left := 1.0
	for i, d := range p.deaths {
		if i == 0 || p.deaths[i-1].worker == 0 {
			all = append(all, round{settings: d.settings})
		}
		counts := owner
		if d.worker > 0 {
			counts = worker
		}
		r := &all[len(all)-1]
		r.kills = append(r.kills, Kill{d.worker, Point{d.moment, 1 + int64(d.after*left*float64(counts[d.moment]))}})
		if d.worker == 0 {
			left *= 1 - d.after
		}
	}
	return all
}

// trials returns plans with the requested total of kills.
func (c *Config) trials(counts *Counts) (all []plan) {
	for left, trial := c.Kills, 1; left > 0; trial++ {
		p := c.planOf(trial, counts)
		p.deaths = p.deaths[:min(left, len(p.deaths))]
		left -= len(p.deaths)
		all = append(all, p)
	}
	return all
}
