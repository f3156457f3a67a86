package assets

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

var update = flag.Bool("update", false, "write the generated files")

// persona is a row of scenarios/personas.parquet, a made-up online panel.
type persona struct {
	Person     string  `parquet:"person"`            // persona-0001 and so on
	Name       string  `parquet:"name"`              // a first name, which may repeat
	Age        int32   `parquet:"age"`               // 18 to 89
	AgeGroup   string  `parquet:"age_group,dict"`    // 18-29, 30-44, 45-64, 65+
	Gender     string  `parquet:"gender,dict"`       // female, male
	Region     string  `parquet:"region,dict"`       // north, south, east, west
	Income     *int32  `parquet:"income,optional"`   // US dollars a year; missing for those who did not say
	IncomeBand string  `parquet:"income_group,dict"` // low, middle, high, unknown
	Occupation string  `parquet:"occupation,dict"`
	Trait      string  `parquet:"trait,dict"` // such as careful with money
	Weight     float64 `parquet:"weight"`     // people that the row stands for, in thousands; 0 for a few who withdrew
}

var (
	femaleNames = []string{"Ada", "Bea", "Carla", "Dora", "Elif", "Fay", "Grace", "Hana", "Ines", "Jana", "Kim", "Lena", "Maya", "Nora", "Olga", "Pia", "Rosa", "Sofia", "Tara", "Uma", "Vera", "Yuki", "Zoe"}
	maleNames   = []string{"Ali", "Ben", "Carl", "Dan", "Emil", "Finn", "Georg", "Hugo", "Ivan", "Jan", "Karl", "Leo", "Max", "Noah", "Omar", "Paul", "Ravi", "Sam", "Tom", "Uwe", "Victor", "Wei", "Yusuf"}
	occupations = []string{"nurse", "teacher", "driver", "engineer", "clerk", "cook", "farmer", "carpenter", "salesperson", "accountant", "programmer", "cleaner", "electrician", "designer", "self-employed"}
	traits      = []string{"careful with money", "loyal to brands", "curious about new things", "always in a hurry", "concerned about the climate", "fond of bargains", "wary of advertising", "guided by friends"}
)

// groups are the age groups: their youngest age, their share of the panel, and their share of the population.
var groups = []struct {
	name            string
	from, to        int
	panel, of       float64
	occupied, wages float64 // the share with an occupation, and the median income
}{
	{"18-29", 18, 29, 0.34, 0.19, 0.6, 26_000},
	{"30-44", 30, 44, 0.31, 0.25, 0.85, 42_000},
	{"45-64", 45, 64, 0.25, 0.33, 0.8, 46_000},
	{"65+", 65, 89, 0.10, 0.23, 0.08, 27_000},
}

var regions = []struct {
	name      string
	panel, of float64
}{{"north", 0.18, 0.22}, {"south", 0.22, 0.31}, {"east", 0.15, 0.2}, {"west", 0.45, 0.27}}

// makePersonas returns the panel. Young people, women and the west are more frequent in it than in the population, which the
// weights correct.
func makePersonas() (all []persona) {
	const people, women, womenOf, withdrawn = 2000, 0.58, 0.51, 97
	r := rand.New(rand.NewPCG(2026, 27))
	for i := range people {
		p := persona{Person: fmt.Sprintf("persona-%04d", i+1), Gender: "male", Name: maleNames[r.IntN(len(maleNames))]}
		ratio := (1 - womenOf) / (1 - women)
		if r.Float64() < women {
			p.Gender, p.Name, ratio = "female", femaleNames[r.IntN(len(femaleNames))], womenOf/women
		}
		g := 0
		for x := r.Float64() - groups[0].panel; x > 0 && g < len(groups)-1; x -= groups[g].panel {
			g++
		}
		group := groups[g]
		p.AgeGroup, p.Age = group.name, int32(group.from+r.IntN(group.to-group.from+1))
		ratio *= group.of / group.panel
		at := 0
		for x := r.Float64() - regions[0].panel; x > 0 && at < len(regions)-1; x -= regions[at].panel {
			at++
		}
		p.Region = regions[at].name
		ratio *= regions[at].of / regions[at].panel
		p.occupy(r, group.occupied, group.to)
		income := int32(math.Round(group.wages*math.Exp(0.45*r.NormFloat64())/500) * 500)
		p.IncomeBand = "middle"
		switch {
		case r.Float64() < 0.06:
			p.IncomeBand = "unknown"
		case income < 25_000:
			p.IncomeBand = "low"
		case income >= 50_000:
			p.IncomeBand = "high"
		}
		if p.IncomeBand != "unknown" {
			p.Income = &income
		}
		p.Trait = traits[r.IntN(len(traits))]
		if p.Weight = math.Round(1000*ratio*(0.8+0.4*r.Float64())) / 1000; i%withdrawn == withdrawn-1 {
			p.Weight = 0
		}
		all = append(all, p)
	}
	return all
}

// occupy chooses an occupation.
func (p *persona) occupy(r *rand.Rand, share float64, oldest int) {
	switch {
	case r.Float64() < share:
		p.Occupation = occupations[r.IntN(len(occupations))]
	case oldest > 64:
		p.Occupation = "retired"
	case p.Age < 26:
		p.Occupation = "student"
	default:
		p.Occupation = "at home"
	}
}

// TestPersonas checks that the file of personas that comes along is the one that is made here. With -update, it writes the
// file.
func TestPersonas(t *testing.T) {
	want := makePersonas()
	if *update {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[persona](&b, parquet.Compression(&parquet.Zstd))
		if _, err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("scenarios", "personas.parquet"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join("scenarios", "personas.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[persona](bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b persona) bool {
		sameIncome := a.Income == b.Income || a.Income != nil && b.Income != nil && *a.Income == *b.Income
		a.Income, b.Income = nil, nil
		return sameIncome && a == b
	}
	if !slices.EqualFunc(got, want, same) {
		t.Error("personas.parquet differs; go test ./assets -run TestPersonas -update writes it")
	}
	if embedded, err := fs.ReadFile(Scenarios(), "personas.parquet"); err != nil || !bytes.Equal(embedded, content) && !*update {
		t.Errorf("%d bytes are embedded, %v; the file has %d", len(embedded), err, len(content))
	}
}

// TestPersonasAreAPanel checks that the weights of the panel correct its shares to those of the population.
func TestPersonasAreAPanel(t *testing.T) {
	weighted, panel, sum := map[string]float64{}, map[string]float64{}, 0.0
	people := makePersonas()
	for _, p := range people {
		sum += p.Weight
		for _, value := range []string{p.AgeGroup, p.Region, p.Gender} {
			weighted[value] += p.Weight
			panel[value] += 1 / float64(len(people))
		}
	}
	want := map[string][2]float64{"female": {0.58, 0.51}}
	for _, g := range groups {
		want[g.name] = [2]float64{g.panel, g.of}
	}
	for _, r := range regions {
		want[r.name] = [2]float64{r.panel, r.of}
	}
	for value, shares := range want {
		if math.Abs(panel[value]-shares[0]) > 0.03 || math.Abs(weighted[value]/sum-shares[1]) > 0.04 {
			t.Errorf("%s: %.3f of the panel, %.3f by weight, want %v", value, panel[value], weighted[value]/sum, shares)
		}
	}
}
