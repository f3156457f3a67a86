package prove

import "math/rand/v2"

// mostKills is the largest number of kills of one trial.
const mostKills = 3

// limits are concurrency limits; every process of a trial has another one.
var limits = []int{1, 2, 7, 50}

// death is one planned kill: its point in the remaining work, and the settings of the process until then.
type death struct {
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
	deaths []death
	last   settings
}

// planOf draws the plan of a trial from the seed. Every second kill is at a commit.
func (c *Config) planOf(trial int, counts *Counts) plan {
	draw := rand.New(rand.NewPCG(c.Seed, uint64(trial)))
	p := plan{trial: trial, last: c.settingsOf(draw)}
	for i := range 1 + draw.IntN(mostKills) {
		d := death{moment: Commit, after: draw.Float64(), settings: c.settingsOf(draw)}
		if at := counts.requests(); len(at) > 0 {
			if m := at[draw.IntN(len(at))]; (trial+i)%2 == 0 {
				d.moment = m
			}
		}
		p.deaths = append(p.deaths, d)
	}
	return p
}

func (c *Config) settingsOf(draw *rand.Rand) settings {
	limit := limits[draw.IntN(len(limits))]
	return settings{min(limit, c.limit()), draw.IntN(4) == 0, draw.IntN(2) == 0}
}

// requests are the moments of requests in a run.
func (c *Counts) requests() (all []Moment) {
	for _, m := range []Moment{Sending, Request, Answer} {
		if c[m] > 0 {
			all = append(all, m)
		}
	}
	return all
}

// points returns the points at which the processes of a trial kill themselves, according to the counts of the undisturbed run. Work that
// a process finds done counts as past.
func (p *plan) points(counts *Counts) (all []Point) {
	left := 1.0
	for _, d := range p.deaths {
		all = append(all, Point{d.moment, 1 + int64(d.after*left*float64(counts[d.moment]))})
		left *= 1 - d.after
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
