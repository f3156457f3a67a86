package answer

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
)

// Survey is the results of a survey.
type Survey struct {
	Run       engine.RunID     `json:"run"`
	Title     string           `json:"title"`
	Asked     int              `json:"asked" doc:"agents that were asked"`
	Questions []SurveyQuestion `json:"questions"`
}

// SurveyQuestion is the answers to one question.
type SurveyQuestion struct {
	Name   string        `json:"name"`
	Ask    string        `json:"ask"`
	Kind   string        `json:"kind" doc:"the answer that was asked for, such as 1 to 5"`
	Groups []SurveyGroup `json:"groups" doc:"all agents first, then the values of each segment"`
}

// SurveyGroup is the answers of all agents, or of those with a value of a segment.
type SurveyGroup struct {
	Segment  string        `json:"segment,omitempty" doc:"an attribute of the agents; missing for all agents"`
	Value    string        `json:"value,omitempty"`
	Asked    int           `json:"asked"`
	Answered int           `json:"answered"`
	Options  []SurveyShare `json:"options,omitempty"`
	Mean     *float64      `json:"mean,omitempty"`
	Low      *float64      `json:"low,omitempty" doc:"lower end of the 95% interval of the mean"`
	High     *float64      `json:"high,omitempty" doc:"upper end of the 95% interval of the mean"`
	Texts    []string      `json:"texts,omitempty" doc:"the first answers in words"`
}

// SurveyShare is how often an option was chosen.
type SurveyShare struct {
	Option string   `json:"option"`
	Count  int      `json:"count"`
	Share  *float64 `json:"share,omitempty" doc:"of those who answered, 0 to 1"`
	Low    *float64 `json:"low,omitempty" doc:"lower end of its 95% interval"`
	High   *float64 `json:"high,omitempty" doc:"upper end of its 95% interval"`
}

// NewSurvey returns the answer for the results of a survey.
func NewSurvey(run engine.RunID, r *survey.Result) Survey {
	out := Survey{Run: run, Title: r.Title, Asked: r.Asked, Questions: []SurveyQuestion{}}
	for i := range r.Questions {
		q := &r.Questions[i]
		one := SurveyQuestion{Name: q.Name, Ask: q.Ask, Kind: q.String()}
		for k := range q.Groups {
			g := &q.Groups[k]
			group := SurveyGroup{
				Segment: g.Segment, Value: g.Value, Asked: g.Asked, Answered: g.Answered,
				Mean: known(g.Mean), Low: known(g.Low), High: known(g.High), Texts: g.Texts,
			}
			for _, o := range g.Options {
				group.Options = append(group.Options, SurveyShare{o.Option, o.Count, known(o.Share), known(o.Low), known(o.High)})
			}
			one.Groups = append(one.Groups, group)
		}
		out.Questions = append(out.Questions, one)
	}
	return out
}
