package voices

import (
	"cmp"
	"compress/flate"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// text is an answer as words, and as a sorted set of its words and pairs of words.
type text struct {
	words []string
	parts []string
}

func newText(answer string) text {
	t := text{words: strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })}
	t.parts = slices.Clone(t.words)
	for i := 1; i < len(t.words); i++ {
		t.parts = append(t.parts, t.words[i-1]+" "+t.words[i])
	}
	slices.Sort(t.parts)
	t.parts = slices.Compact(t.parts)
	return t
}

// Distance returns how different two answers are: the distance of Jaccard (1912) between the sets of their words and pairs of
// neighboring words, from 0 to 1. Case and punctuation do not count.
func Distance(a, b string) float64 {
	x, y := newText(a), newText(b)
	return x.distance(&y)
}

func (t *text) distance(o *text) float64 {
	common := 0
	for i, j := 0, 0; i < len(t.parts) && j < len(o.parts); {
		switch cmp.Compare(t.parts[i], o.parts[j]) {
		case -1:
			i++
		case 1:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	all := len(t.parts) + len(o.parts) - common
	if all == 0 {
		return 0
	}
	return 1 - float64(common)/float64(all)
}

// matrix has the distances of all pairs.
type matrix struct {
	n int
	d []float64 // of i and j < i at i(i-1)/2 + j
}

func distances(texts []text) *matrix {
	m := &matrix{n: len(texts)}
	for i := range texts {
		for j := range i {
			m.d = append(m.d, texts[i].distance(&texts[j]))
		}
	}
	return m
}

// mean returns the mean distance; 0 with fewer than two answers.
func (m *matrix) mean() float64 {
	sum := 0.0
	for _, d := range m.d {
		sum += d
	}
	return sum / float64(max(len(m.d), 1))
}

// near is the distance up to which answers are nearly equal.
const near = 0.3

// groups returns the sizes of the groups of nearly equal answers. Each answer joins the first group whose first answer is near.
func (m *matrix) groups() (sizes []int) {
	var first []int
	for i := range m.n {
		at := slices.IndexFunc(first, func(j int) bool { return m.d[i*(i-1)/2+j] <= near })
		if at < 0 {
			first, sizes, at = append(first, i), append(sizes, 0), len(first)
		}
		sizes[at]++
	}
	return sizes
}

// split returns the mean distance between answers with different values and with the same value; false if one of them has no pairs.
func (m *matrix) split(values []string) (between, within float64, known bool) {
	apart, together := 0, 0
	for i := range m.n {
		for j := range i {
			switch d := m.d[i*(i-1)/2+j]; {
			case values[i] == "" || values[j] == "":
			case values[i] == values[j]:
				within, together = within+d, together+1
			default:
				between, apart = between+d, apart+1
			}
		}
	}
	if apart == 0 || together == 0 {
		return 0, 0, false
	}
	return between / float64(apart), within / float64(together), true
}

// complexity returns the compressed size of all answers as a share of the sizes of each alone.
func complexity(agents []int, of map[int]string) float64 {
	var all strings.Builder
	alone, empty := 0, compressed("")
	for _, agent := range agents {
		all.WriteString(of[agent])
		all.WriteByte('\n')
		alone += compressed(of[agent]+"\n") - empty
	}
	return min(1, float64(compressed(all.String())-empty)/float64(max(alone, 1)))
}

// compressed returns the size of a text that is compressed by DEFLATE (RFC 1951), whose window of 32 KiB limits how far back it sees.
func compressed(text string) int {
	var n counter
	w, err := flate.NewWriter(&n, flate.BestCompression)
	if err != nil { // the level is valid
		return len(text)
	}
	_, _ = io.WriteString(w, text) // counting never fails
	_ = w.Close()
	return int(n)
}

// counter counts bytes.
type counter int

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

const (
	phraseWords = 4
	mostPhrases = 5
	leastShare  = 0.1
)

// phrases returns the sequences of words that most agents say. Of sequences that overlap, only the most frequent is listed.
func phrases(texts []text) []Phrase {
	count := map[string]int{}
	for i := range texts {
		found := map[string]bool{}
		for at := phraseWords; at <= len(texts[i].words); at++ {
			found[strings.Join(texts[i].words[at-phraseWords:at], " ")] = true
		}
		for p := range found {
			count[p]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	var listed []Phrase
	for _, p := range all {
		share := float64(count[p]) / float64(len(texts))
		if len(listed) == mostPhrases || share < leastShare || count[p] < 2 {
			break
		}
		if !slices.ContainsFunc(listed, func(l Phrase) bool { return overlap(l.Text, p) }) {
			listed = append(listed, Phrase{p, share})
		}
	}
	return listed
}

// overlap reports whether two phrases have all words but two in common.
func overlap(a, b string) bool {
	words := strings.Fields(a)
	common := 0
	for w := range strings.FieldsSeq(b) {
		if slices.Contains(words, w) {
			common++
		}
	}
	return common >= phraseWords-2
}

// refusal matches how models refuse to answer as a persona.
var refusal = regexp.MustCompile(`(?i)^\W*(i'?m sorry\b|i am sorry\b|sorry,|i apologi[sz]e|i (can ?not|can'?t|won'?t|am unable|am not able)\b|i'?m (unable|not able)\b)|\bas an ai\b|\bas a (large )?language model\b|\bi'?m (just )?an ai\b`)

func refuses(answer string) bool { return refusal.MatchString(strings.ReplaceAll(answer, "’", "'")) }
