package draft

// Choices are what a form can offer for a scenario.
type Choices struct {
	Factors  []Choice // about the factors of the suggested draft, by name
	Further  []string // names of other things that can vary
	Measures []string
	Usual    []string // measures of a file that lists none
	Cycles   string   // of the scenario; "" if it has another length
}

// Choice describes a factor.
type Choice struct {
	Name  string
	Title string // of the parameter
	About string // which values it takes, and its value without an experiment
	Usual string // that value, as it is typed
}

// Factor returns the description of a factor; the zero value if there is none.
func (c *Choices) Factor(name string) Choice {
	for _, f := range c.Factors {
		if f.Name == name {
			return f
		}
	}
	return Choice{}
}
