package voices

import (
	"fmt"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// Thresholds of warnings.
const (
	// shortAnswer is how many words an answer needs on average to be text, and not a choice.
	shortAnswer = 4
	// lowEffective warns about text if the effective number of answers is below this share of the agents.
	lowEffective = 0.25
	// lowDistance warns about text if two answers differ by less on average.
	lowDistance = 0.5
	// commonPhrase warns if more agents say the same phrase.
	commonPhrase = 0.5
	// oneChoice warns if more agents make the same choice.
	oneChoice = 0.95
	// manyRefusals warns if more agents refuse.
	manyRefusals = 0.05
)

// warning says in which way agents answer alike; "" if they do not.
func (v *Voice) warning() string {
	if v.Compared < FewestAgents {
		return ""
	}
	who := engine.Counted(int64(v.Compared), "agent", "agents")
	switch refusals := float64(v.Refusals) / float64(v.Compared); {
	case v.Choice && v.Largest > oneChoice:
		return fmt.Sprintf("Nearly all agents answer alike: %.0f%% of %s make the same choice.", 100*v.Largest, who)
	case v.Choice:
	case v.Effective < lowEffective*float64(v.Compared):
		return fmt.Sprintf("Many agents answer alike: the answers of %s vary only as much as %s would, each of them given equally often.", who,
			engine.Counted(int64(math.Round(v.Effective)), "different answer", "different answers"))
	case v.Distance < lowDistance:
		return fmt.Sprintf("Many agents answer alike: on average, %.0f%% of the words in the answers of two agents are the same.", 100*(1-v.Distance))
	case len(v.Phrases) > 0 && v.Phrases[0].Share > commonPhrase:
		return fmt.Sprintf("Part of the answers is the same: %.0f%% of %s say “%s”.", 100*v.Phrases[0].Share, who, v.Phrases[0].Text)
	case refusals > manyRefusals:
		return fmt.Sprintf("%.0f%% of %s refuse to answer.", 100*refusals, who)
	}
	return ""
}

// Head returns the heads of the columns of [Voice.Cells].
func Head() []string {
	return []string{"Step", "Agents", "Different answers", "Effective number", "Coverage", "Uniformity", "Complexity", "Mean distance", "Refusals"}
}

// Cells returns the figures as text.
func (v *Voice) Cells() []string {
	agents := engine.FormatCount(int64(v.Agents))
	if v.Compared < v.Agents {
		agents += fmt.Sprintf(" (%d compared)", v.Compared)
	}
	return []string{
		v.Step, agents, engine.FormatCount(int64(v.Different)), fmt.Sprintf("%.1f", v.Effective), share(v.Coverage), share(v.Uniformity), share(v.Complexity),
		fmt.Sprintf("%.2f", v.Distance), fmt.Sprintf("%d (%s)", v.Refusals, share(float64(v.Refusals)/float64(max(v.Compared, 1)))),
	}
}

func share(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }

// Remarks says what stands out in the step, the warning first.
func (v *Voice) Remarks() (all []string) {
	if v.Warning != "" {
		all = append(all, v.Warning)
	}
	for _, p := range v.Phrases[:min(len(v.Phrases), 3)] {
		all = append(all, fmt.Sprintf("“%s” is said by %s of agents.", p.Text, share(p.Share)))
	}
	for _, s := range v.Segments {
		all = append(all, fmt.Sprintf("Distance by %s: %.2f between its %d values, %.2f within them.", s.Attribute, s.Between, s.Values, s.Within))
	}
	return all
}

// Warned reports whether a step has a warning.
func (c *Crowd) Warned() bool {
	for i := range c.Steps {
		if c.Steps[i].Warning != "" {
			return true
		}
	}
	return false
}

// NoAnswers says that there is nothing to measure.
const NoAnswers = "No answers of models were kept."

// Method says what the figures mean.
const Method = "The last answers of up to 400 agents are compared. Effective number: how many equally frequent answers would be as varied. " +
	"Coverage: different answers as a share of agents. Uniformity: how evenly agents spread over them. Complexity: 100% if answers have no text in common. " +
	"Mean distance: 0 if two answers have the same words, 1 if they share none."

// Verdict says in one sentence whether a step has a warning.
func (c *Crowd) Verdict() string {
	warned, first := 0, ""
	for i := range c.Steps {
		if w := c.Steps[i].Warning; w != "" {
			if warned++; warned == 1 {
				first = c.Steps[i].Step + ": " + w
			}
		}
	}
	switch {
	case !c.Judged():
		return fmt.Sprintf("Too few answers to judge: a step needs those of %d agents.", FewestAgents)
	case warned == 0:
		return "The answers of the agents differ: no step has a warning."
	case warned == 1:
		return first
	}
	return fmt.Sprintf("%s %s, too.", first, engine.Counted(int64(warned-1), "other step has a warning", "other steps have warnings"))
}

// Judged reports whether a step has enough agents for a warning.
func (c *Crowd) Judged() bool {
	return slices.ContainsFunc(c.Steps, func(v Voice) bool { return v.Compared >= FewestAgents })
}
