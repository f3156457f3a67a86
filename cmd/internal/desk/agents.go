package desk

import (
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/ui/live"
)

// withPeople adds the details of agents to a shown job.
func withPeople(j *live.Job, p *history.Agents) *live.Job {
	j.Agent, j.Find, j.Name = p.View, p.Program.Search, p.Name
	if p.Run != nil {
		j.Crowd = p.Run.Crowd
	}
	return j
}
