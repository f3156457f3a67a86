package rehearsal

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// endSign ends a conversation in which a message says that it is the sign for that.
const endSign = "[END]"

const (
	tokensUsual = 80   // of an answer where the call sets no bound
	tokensMost  = 1024 // of an answer, whatever bound the call sets
	topicsMost  = 16
)

// talk is what an answer takes up: the words of the last message and of whom the instructions say to be.
type talk struct {
	topics  []string // of the last message
	self    []string // of the instructions
	asked   bool     // the last message ends in a question
	turns   int      // so far
	mayEnd  bool     // a message names endSign
	ending  bool     // the last message has it at its end, as an answer would
	words   int      // how many the last message asks for, or 0
	phrases int      // how many sentences
}

func newTalk(messages []message) *talk {
	t := &talk{}
	var last string
	for _, m := range messages {
		t.mayEnd = t.mayEnd || strings.Contains(m.text, endSign)
		if m.role == "system" || m.role == "developer" {
			t.self = append(t.self, topics(m.text)...)
			continue
		}
		last = m.text
		t.turns++
	}
	// A prompt may hold the conversation itself, a line for each turn.
	t.turns += len(spokenLine.FindAllStringIndex(last, -1))
	trimmed := strings.TrimSpace(last)
	t.asked = strings.HasSuffix(trimmed, "?")
	t.ending = len(messages) > 1 && strings.HasSuffix(trimmed, " "+endSign) && t.turns >= endAfter
	t.words, t.phrases = askedLength(last)
	t.topics = topics(last)
	if len(t.topics) == 0 {
		t.topics = append(t.topics, t.self...)
	}
	if len(t.topics) == 0 {
		t.topics = []string{"this", "the rest"}
	}
	return t
}

var spokenLine = regexp.MustCompile(`(?m)^[\pL][\pL\pN ._-]{0,40}: \S`)

// notInWord says which runes end a word.
func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
}

// commonWords say nothing about what a text is about.
var commonWords = func() map[string]bool {
	common := map[string]bool{}
	for _, word := range strings.Fields(`about after again also always answer because been before being between both
		could does doing done each even every from give going good have having here into just know less like long made
		make many more most much must never only other ours please quite rather really reply said same says shall she'd
		should since some something still such take tell than that that's their them then there these they they're thing
		things think this those thought time under until upon very want well were what what's when where which while will
		with within without word words would write your you're yours sentence sentences`) {
		common[word] = true
	}
	return common
}()

// topics are the words that a text is about, each once.
func topics(text string) []string {
	var words []string
	for _, word := range strings.FieldsFunc(text, notInWord) {
		word = strings.Trim(word, "'-")
		letters := strings.IndexFunc(word, unicode.IsDigit) < 0
		if runes := utf8.RuneCountInString(word); runes < 4 || runes > 24 || !letters || commonWords[strings.ToLower(word)] || word == strings.ToUpper(word) {
			continue
		}
		if !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) {
			words = append(words, word)
		}
		if len(words) == topicsMost {
			break
		}
	}
	// A capital may stand there because a sentence began.
	for i, word := range words {
		if first, size := utf8.DecodeRuneInString(word); i == 0 || strings.Contains(text, ". "+word) || strings.Contains(text, "? "+word) {
			words[i] = string(unicode.ToLower(first)) + word[size:]
		}
	}
	return words
}

var lengthWanted = regexp.MustCompile(`(?i)\b(\d{1,4}|one|two|three|four|five) (word|sentence)s?\b`)

// askedLength reads "in 50 words" and "two sentences"; 0 is not asked.
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

// Sentences; A and B stand for topics of the last message, P for one of the speaker's own.
var (
	answers = []string{
		"To your question, I would say that A comes first.", "It depends on A, and a little on B.",
		"Yes, as far as A goes.", "Not really, A is more to the point than B.", "I would start with A.",
		"Hard to say, but A seems right to me.",
	}
	replies = []string{
		"You have a point about A.", "I had not thought of A that way.", "That fits what I know of A.",
		"I see A a little differently.", "A, then, and I am glad that you bring it up.", "What you say about A stays with me.",
	}
	middles = []string{
		"A and B belong together.", "The part about A is easy to miss.", "With A it takes some patience.",
		"Most people look at B first and at A too late.", "I would rather have less of B and more of A.",
		"There are two sides to it, A and B.", "A is worth the trouble.", "Nobody has asked me about A for a while.",
		"If B changes, A has to follow.", "My experience with A is a good one.", "So far B has mattered less than expected.",
		"I would keep an eye on A.",
	}
	ownSentences = []string{
		"P is where I come from, so I notice such things.", "That is how it is with P, too.", "Much of it reminds me of P.",
		"P has taught me to be careful with A.",
	}
	questions = []string{
		"What do you make of A?", "How would you go about B?", "Does A matter as much to you?", "And what about B?",
	}
	farewells = []string{
		"It was good to talk about A, goodbye.", "I think we have said what there is to say about A, so long.",
		"Let us leave A at that, and thank you.",
	}
)

// prose is an answer of at most most tokens (0 is as long as is usual), for as long as whole sentences fit.
func (t *talk) prose(key draw.Key, most int) string {
	s := key.Text("prose").Source()
	if t.ends(s) {
		return t.fill(farewells, s) + " " + endSign
	}
	opening := replies
	if t.asked {
		opening = answers
	}
	text := t.fill(opening, s)
	last := text
	for n := 1; !t.long(text, n, most, s); n++ {
		next := t.fill(t.kind(s), s)
		if next == last {
			next = t.fill(questions, s)
		}
		if most > 0 && tokens(text+" "+next) > most {
			break
		}
		text, last = text+" "+next, next
	}
	return t.trim(text)
}

// kind is what sort of sentence comes next.
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

// long says whether a text of n sentences is as long as it is to be: what the message asked for, else from the half
// of what the call allows.
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

// trim cuts a text to the words that were asked for.
func (t *talk) trim(text string) string {
	if words := strings.Fields(text); t.words > 0 && len(words) > t.words {
		return strings.TrimRight(strings.Join(words[:t.words], " "), ".,?") + "."
	}
	return text
}

const (
	endAfter = 3  // turns, before which no conversation ends
	endBy    = 16 // turns, after which every one does
)

// ends says whether this answer ends the conversation.
func (t *talk) ends(s *draw.Source) bool {
	u := s.Float64()
	return t.mayEnd && (t.ending || u < float64(t.turns-endAfter)/(endBy-endAfter))
}

// fill draws one of the sentences and puts topics into it.
func (t *talk) fill(sentences []string, s *draw.Source) string {
	sentence := sentences[s.IntN(len(sentences))]
	a, b := s.IntN(len(t.topics)), 0
	if len(t.topics) > 1 {
		b = (a + 1 + s.IntN(len(t.topics)-1)) % len(t.topics)
	}
	second := t.topics[b]
	if a == b {
		second = "the rest"
	}
	var text strings.Builder
	for i, word := range strings.Split(sentence, " ") {
		if i > 0 {
			text.WriteByte(' ')
		}
		stem := strings.TrimRight(word, ".,?")
		tail := word[len(stem):]
		switch stem {
		case "A":
			stem = t.topics[a]
		case "B":
			stem = second
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

// sentence is one of few words, for a field of a document.
func (t *talk) sentence(s *draw.Source) string { return t.fill(middles, s) }

// topic is one word.
func (t *talk) topic(s *draw.Source) string { return t.topics[s.IntN(len(t.topics))] }
