// Package survey asks the agents of a run questions without disturbing it. A survey is a scenario made from that of the run: copies of its
// agents, with their memory at a checkpoint, answer a questionnaire in one more cycle, in a run of its own.
package survey

import (
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/scale"
)

// Kind is the kind of answer that a question expects.
type Kind string

// Kinds of answers.
const (
	Choice Kind = "choice" // one of the options
	Scale  Kind = "scale"  // a whole number within bounds
	Number Kind = "number" // any number
	Text   Kind = "text"   // free text
)

// Question is one question of a survey.
type Question struct {
	Name    string   `json:"name"`
	Ask     string   `json:"ask"` // a text of the scenario language: it may contain expressions over agent and params
	Kind    Kind     `json:"kind" doc:"choice, scale, number or text"`
	Options []string `json:"choices,omitempty" doc:"of a choice"`
	Low     int      `json:"from,omitempty" doc:"of a scale"`
	High    int      `json:"to,omitempty" doc:"of a scale"`
}

// Survey is what a file of questions says.
type Survey struct {
	Title     string
	Service   string // the llm service of the scenario that answers; "" is its only one
	System    string // who answers; "" describes the agent by its attributes, memory and notes
	Separate  bool   // each question is a call of its own, so that no answer depends on another question
	Segments  []string
	Questions []Question
}

// Limits of a survey.
const (
	mostQuestions = 100
	mostOptions   = 100
)

// Parse reads questions. Mistakes go to the report of the document; the survey is then incomplete.
func Parse(root *doc.Node) *Survey {
	s := &Survey{}
	if root != nil {
		s.read(root)
	}
	return s
}

func (s *Survey) read(root *doc.Node) {
	root.Fields("title", "service", "system", "separate", "segments", "questions")
	root.Require("questions")
	s.Title = strings.Join(strings.Fields(root.Get("title").Text()), " ")
	s.Service, s.System = root.Get("service").Text(), root.Get("system").Text()
	if n := root.Get("separate"); n != nil {
		s.Separate = n.Bool()
	}
	taken := map[string]bool{"questions": true}
	for _, n := range root.Get("segments").List() {
		name := n.Text()
		switch {
		case !isName(name):
			n.Errorf("the name of an attribute of the agents", "%q is not a name", name)
		case taken[name]:
			n.Errorf("", "%s is named twice", name)
		default:
			taken[name] = true
			s.Segments = append(s.Segments, name)
		}
	}
	all := root.Get("questions").Entries()
	if n := root.Get("questions"); n != nil && (len(all) == 0 || len(all) > mostQuestions) {
		n.Errorf("", "there are %d questions, and a survey has 1 to %d", len(all), mostQuestions)
	}
	for _, e := range all {
		name := e.Key.Text()
		switch {
		case !isName(name):
			e.Key.Errorf("use letters, digits and _", "%q is not the name of a question", name)
		case taken[name]:
			e.Key.Errorf("give the question another name", "%s is already the name of a segment or question", name)
		}
		taken[name] = true
		s.Questions = append(s.Questions, question(name, e.Value))
	}
}

// question reads a question: a text that is asked, or a map of `ask` and `answer`.
func question(name string, n *doc.Node) Question {
	q := Question{Name: name, Kind: Text}
	if n.Kind() != doc.Map {
		q.Ask = n.Text()
		return q
	}
	n.Fields("ask", "answer")
	n.Require("ask")
	q.Ask = n.Get("ask").Text()
	answer := n.Get("answer")
	switch {
	case answer == nil:
	case answer.Kind() == doc.List:
		q.Kind = Choice
		q.options(answer)
	case answer.Kind() == doc.Map:
		q.Kind = Scale
		q.Low, q.High = scale.Read(answer)
	case answer.Text() == "number":
		q.Kind = Number
	case answer.Text() != "text":
		answer.Errorf("text, number, {from: 1, to: 5}, or a list of options", "%q is not a kind of answer", answer.Text())
	}
	return q
}

func (q *Question) options(n *doc.Node) {
	seen := map[string]bool{}
	for _, o := range n.List() {
		text := o.Text()
		if text == "" || seen[text] {
			o.Errorf("", "the option %q is empty or listed twice", text)
		}
		seen[text] = true
		q.Options = append(q.Options, text)
	}
	if len(q.Options) < 2 || len(q.Options) > mostOptions {
		n.Errorf("", "there are %d options, and a choice has 2 to %d", len(q.Options), mostOptions)
	}
}

// isName reports whether a text can be a field of a record.
func isName(text string) bool {
	for i, r := range text {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return text != ""
}
