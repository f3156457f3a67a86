package experiment

import (
	"regexp"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// ServiceFactors returns the indices of the factors that can change a service, such as its address. Points with the same values of these
// call the same services.
func (e *Experiment) ServiceFactors() (all []int) {
	name := e.Of.Source.Name
	services := doc.At(doc.Parse(name, e.Of.Source.Files[name], &doc.Report{}), "services")
	texts := strings.Join(scalarTexts(services), "\n")
	// A function can use every parameter, and so can a service that is not in this file.
	every := strings.Contains(texts, "${") && strings.Contains(texts, "(") || len(services.Entries()) != len(e.Of.Services)
	for i := range e.Factors {
		switch f := &e.Factors[i]; f.Kind {
		case Service, RunSetting:
			all = append(all, i)
		case Parameter:
			if every || regexp.MustCompile(`\b`+regexp.QuoteMeta(f.Path[0])+`\b`).MatchString(texts) {
				all = append(all, i)
			}
		case Filter:
		}
	}
	return all
}

// scalarTexts returns the texts of all single values below a node.
func scalarTexts(n *doc.Node) (all []string) {
	switch n.Kind() {
	case doc.Scalar:
		return []string{n.Text()}
	case doc.Map:
		for _, e := range n.Entries() {
			all = append(all, scalarTexts(e.Value)...)
		}
	case doc.List:
		for _, item := range n.List() {
			all = append(all, scalarTexts(item)...)
		}
	case doc.Absent, doc.Null:
	}
	return all
}
