package mock

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences. A and B stand for topics of the conversation, P for one of the speaker's own. They are grammatical for singular and plural
// topics. Do not change them: the answers of existing runs would change.
var (
	answers = []string{
		"To your question, I would say that A should come first.", "It depends on A, and a little on B.",
		"Yes, as far as A can take us.", "No, A would be more to the point than B.", "I would start with A.",
		"Hard to say, but I lean towards A.",
	}
	replies = []string{
		"You have a point about A.", "I had not thought of A that way.", "That fits what I know of A.",
		"I see A a little differently.", "Right, A, and I am glad that you bring it up.", "What you say about A stays with me.",
	}
	middles = []string{
		"For me A and B belong together.", "The part about A can be easy to miss.", "With A it takes some patience.",
		"Most people look at B first and at A too late.", "I would rather have less of B and more of A.",
		"There are two sides to it, A and B.", "The trouble with A would be worth it.", "Nobody has asked me about A for a while.",
		"If I had to change B, I would have to change A as well.", "My experience with A was a good one.",
		"So far I cared less for B than expected.", "I would keep an eye on A.", "Friends of mine swear by A.",
		"It took me years to see what A can do.", "Without A we would not have B.", "Let me add that A could surprise us.",
	}
	ownSentences = []string{
		"I come to it from P, so I notice such matters.", "That is how it goes with P, too.", "Much of it reminds me of P.",
		"P taught me to be careful with A.",
	}
	questions = []string{
		"What do you make of A?", "How would you go about B?", "Would A matter as much to you?", "And what about B?",
		"Where would you look for A?",
	}
	endReasons = []string{
		"It was good to talk about A, goodbye.", "I believe we have said what there is to say about A, so long.",
		"Let us leave A at that, and thank you.",
	}
)

// topicsMost is the largest number of topics of a text.
const topicsMost = 16

// notInWord reports whether a rune ends a word.
func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
}

// commonWords are not topics.
var commonWords = wordSet(`about after again also always answer because been before being between both
		could does doing done each even every from give going good have having here into just know less like long made
		make many more most much must never only other ours please quite rather really reply said same says shall she'd
		should since some something still such take tell than that that's their them then there these they they're thing
		things think this those thought time under until upon very want well were what what's when where which while will
		with within without word words write would your you're yours sentence sentences hello conversation
		message messages question questions over side other whether whose line lines part talk begin stay end ends nothing
		left person people`,
	// Words of the mock's own sentences are not topics either.
	answers, replies, middles, ownSentences, questions, endReasons)

// nounMarkers are words that precede a noun.
var nounMarkers = wordSet(`the a an of in on at about my your our their his her its this that these those with for from into some any no
	every by like love loves`)

// wordSet returns the set of the words of texts.
func wordSet(text string, more ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, sentence := range append(slices.Concat(more...), text) {
		for _, word := range strings.FieldsFunc(strings.ToLower(sentence), notInWord) {
			set[word] = true
		}
	}
	return set
}

// topics returns the topics of a text, without repetition: words that look like nouns or, if there are none, all words that are not
// common.
func topics(text string) []string {
	var nouns, words []string
	before := ""
	for _, word := range strings.FieldsFunc(text, notInWord) {
		word = strings.Trim(word, "'-")
		if telling(word) {
			lower := strings.ToLower(word)
			if nounMarkers[before] || strings.HasSuffix(lower, "s") {
				nouns = appendTopic(nouns, word)
			}
			words = appendTopic(words, word)
		}
		before = strings.ToLower(word)
	}
	if len(nouns) > 0 {
		return nouns
	}
	return words
}

// telling reports whether a word may be a topic.
func telling(word string) bool {
	runes := utf8.RuneCountInString(word)
	return runes >= 4 && runes <= 24 && word != strings.ToUpper(word) && strings.IndexFunc(word, unicode.IsDigit) < 0 &&
		!commonWords[strings.ToLower(word)]
}

// appendTopic adds a word unless the list contains it.
func appendTopic(words []string, word string) []string {
	if len(words) == topicsMost || slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) {
		return words
	}
	return append(words, word)
}
