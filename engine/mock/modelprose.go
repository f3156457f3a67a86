package mock

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/leaning"
)

// endSign ends a conversation, if a message says so.
const endSign = "[END]"

const (
	tokensUsual = 80   // of an answer without a limit in the call
	tokensMost  = 1024 // of any answer
)

// talk is what an answer refers to: the words of the last message, and the role that the instructions describe.
type talk struct {
	topics  []string         // of the last message, or of the latest that has any
	wider   []string         // of the whole conversation
	self    []string         // of the instructions
	asked   bool             // the last message ends in a question
	turns   int              // so far
	mayEnd  bool             // a message contains endSign
	ending  bool             // the last message ends with it, as an answer would
	words   int              // number that the last message asks for, or 0
	phrases int              // number of sentences that it asks for, or 0
	roughly bool             // words is approximate
	leaning *leaning.Leaning // of the persona that answers; nil for other models
}

func newTalk(messages []message) *talk {
	t := &talk{}
	var last, instructions string
	for _, m := range messages {
		t.mayEnd = t.mayEnd || strings.Contains(m.text, endSign)
		if m.role == "system" || m.role == "developer" {
			instructions = m.text
			for _, sentence := range strings.SplitAfter(m.text, ". ") {
				if !strings.Contains(sentence, endSign) { // the instruction how to end is not a topic
					t.self = append(t.self, topics(sentence)...)
				}
			}
			continue
		}
		last = m.text
		t.turns++
		if found := topics(m.text); len(found) > 0 {
			t.topics = found
			t.wider = append(t.wider, found...)
		}
	}
	// A prompt may contain the conversation itself, one line for each turn.
	t.turns += len(spokenLine.FindAllStringIndex(last, -1))
	trimmed := strings.TrimSpace(last)
	t.asked = strings.HasSuffix(trimmed, "?")
	t.ending = len(messages) > 1 && strings.HasSuffix(trimmed, " "+endSign) && t.turns >= endAfter
	if t.words, t.phrases = askedLength(last); t.words+t.phrases == 0 {
		t.words, t.phrases = askedLength(instructions)
	}
	t.roughly = roughWanted.MatchString(last) || roughWanted.MatchString(instructions)
	if len(t.topics) == 0 {
		t.topics = append(t.topics, t.self...)
	}
	if len(t.topics) == 0 {
		t.topics = []string{"the day", "the plan", "the news", "the network"}
	}
	return t
}

var spokenLine = regexp.MustCompile(`(?m)^[\pL][\pL\pN ._-]{0,40}: \S`)

var lengthWanted = regexp.MustCompile(`(?i)\b(\d{1,4}|one|two|three|four|five) (word|sentence)s?\b`)

var roughWanted = regexp.MustCompile(`(?i)\b(about|around|up to|at most) \d{1,4} words\b`)

// askedLength reads "in 50 words" and "two sentences"; 0 if absent.
func askedLength(text string) (words, sentences int) {
	found := lengthWanted.FindStringSubmatch(text)
	if found == nil {
		return 0, 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		n = 1 + slices.Index([]string{"one", "two", "three", "four", "five"}, strings.ToLower(found[1]))
	}
	if strings.EqualFold(found[2], "word") {
		return n, 0
	}
	return 0, n
}

// prose returns an answer of at most most tokens (0 is the usual length). It stops at the last sentence that fits.
func (t *talk) prose(key draw.Key, most int) string {
	s := key.Text("prose").Source()
	if t.ends(s) {
		return t.fill(endReasons, s) + " " + endSign
	}
	opening := replies
	if t.asked {
		opening = answers
	}
	text := t.fill(opening, s)
	used := map[string]bool{}
	for n := 1; !t.long(text, n, most, s); n++ {
		kind := t.kind(s)
		fresh := slices.DeleteFunc(slices.Clone(kind), func(sentence string) bool { return used[sentence] })
		if len(fresh) == 0 {
			clear(used)
			fresh = kind
		}
		sentence := fresh[s.IntN(len(fresh))]
		used[sentence] = true
		next := t.fill([]string{sentence}, s)
		if most > 0 && tokens(text+" "+next) > most {
			break
		}
		text += " " + next
	}
	return t.trim(text)
}

// kind draws the kind of the next sentence.
func (t *talk) kind(s *draw.Source) []string {
	switch u := s.Float64(); {
	case u < 0.2:
		return questions
	case u < 0.35 && len(t.self) > 0:
		return ownSentences
	default:
		return middles
	}
}

// long reports whether a text of n sentences has the requested length. Without a request, a text is long from half of the call's limit
// on.
func (t *talk) long(text string, n, most int, s *draw.Source) bool {
	bound := min(most, tokensMost)
	if bound == 0 {
		bound = tokensUsual
	}
	switch size := tokens(text); {
	case size >= tokensMost:
		return true
	case t.words > 0:
		return len(strings.Fields(text)) >= t.words
	case t.phrases > 0:
		return n >= t.phrases
	case size < bound/2:
		return false
	default:
		return size >= bound || s.Float64() < 0.3
	}
}

// trim shortens a text to the requested number of words.
func (t *talk) trim(text string) string {
	words := strings.Fields(text)
	if t.words == 0 || len(words) <= t.words {
		return text
	}
	words = words[:t.words]
	if t.roughly {
		for end := len(words); end > len(words)/2; end-- {
			if strings.ContainsAny(words[end-1][len(words[end-1])-1:], ".?") {
				return strings.Join(words[:end], " ")
			}
		}
	}
	for len(words) > 1 && len(words[len(words)-1]) < 4 { // do not end in "and the"
		words = words[:len(words)-1]
	}
	return strings.TrimRight(strings.Join(words, " "), ".,?") + "."
}

const (
	endAfter = 3  // no conversation ends before this many turns
	endBy    = 16 // every conversation ends by this many turns
)

// ends reports whether this answer ends the conversation.
func (t *talk) ends(s *draw.Source) bool {
	u := s.Float64()
	return t.mayEnd && (t.ending || u < float64(t.turns-endAfter)/(endBy-endAfter))
}

// fill draws one of the sentences and inserts topics.
func (t *talk) fill(sentences []string, s *draw.Source) string {
	sentence := sentences[s.IntN(len(sentences))]
	a := t.topics[s.IntN(len(t.topics))]
	b := t.second(a, s)
	var text strings.Builder
	for i, word := range strings.Split(sentence, " ") {
		if i > 0 {
			text.WriteByte(' ')
		}
		stem := strings.TrimRight(word, ".,?")
		tail := word[len(stem):]
		switch stem {
		case "A":
			stem = a
		case "B":
			stem = b
		case "P":
			stem = t.self[s.IntN(len(t.self))]
		}
		if i == 0 {
			first, size := utf8.DecodeRuneInString(stem)
			stem = string(unicode.ToUpper(first)) + stem[size:]
		}
		text.WriteString(stem + tail)
	}
	return text.String()
}

// second returns a topic other than the first, from the last message or an earlier one.
func (t *talk) second(first string, s *draw.Source) string {
	for _, from := range [][]string{t.topics, t.wider, t.self} {
		others := slices.DeleteFunc(slices.Clone(from), func(topic string) bool { return strings.EqualFold(topic, first) })
		if len(others) > 0 {
			return others[s.IntN(len(others))]
		}
	}
	return "the other side"
}

// sentence returns a short sentence, for a field of a document.
func (t *talk) sentence(s *draw.Source) string { return t.fill(middles, s) }

// topic draws one word.
func (t *talk) topic(s *draw.Source) string { return t.topics[s.IntN(len(t.topics))] }
