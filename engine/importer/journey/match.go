package journey

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/importer"
)

// identifiers are words that name what identifies something.
var identifiers = strings.Fields("id uuid guid key slug code sku number no ref reference handle token cursor etag version isbn ean pk")

func isIdentifier(word string) bool { return slices.Contains(identifiers, word) }

// agreement tells how well the name of a request's value fits that of a place in an answer, from 0 to 3.
func agreement(s *slot, from *source, v *visit) int {
	want, key := words(s.name), words(from.key)
	if len(want) == 0 || len(key) == 0 {
		return 0
	}
	parent := words(from.parent)
	if len(parent) == 0 || from.parent == "data" || from.parent == "result" || from.parent == "item" || from.parent == "items" || from.parent == "results" || from.parent == "content" {
		parent = words(v.calls[from.call].resource())
	}
	full := append(slices.Clone(parent), key...)
	last := want[len(want)-1]
	switch {
	case slices.Equal(want, key) && (len(want) > 1 || !isIdentifier(last)):
		return 3
	case slices.Equal(want, full):
		return 3
	case len(want) > len(full) && slices.Equal(want[len(want)-len(full):], full):
		return 2
	case len(key) > 1 && len(want) > len(key) && slices.Equal(want[len(want)-len(key):], key):
		return 2
	case isIdentifier(last) && len(want) > 1 && (isIdentifier(key[len(key)-1]) || key[0] == "name" || key[0] == "title") && len(key) == 1 && len(parent) > 0 && want[len(want)-2] == parent[len(parent)-1]:
		return 2
	case len(want) == 1 && len(parent) > 0 && want[0] == parent[len(parent)-1]:
		return 2
	case len(want) > 1 && len(key) > 1 && slices.Equal(want[1:], key):
		return 2
	case last == key[len(key)-1] && isIdentifier(last):
		return 1
	}
	return 0
}

// resource returns the last fixed segment of the path: products of /products/{id}.
func (c *call) resource() string {
	for _, s := range slices.Backward(c.segments) {
		if !looksDynamic(s) && s != "" {
			return s
		}
	}
	return ""
}

// best returns the place that a value of a request most likely comes from, or nil: the one whose name fits, rather outside of a
// list, and of those the latest.
func (b *builder) best(v *visit, c *call, s *slot, text string) *source {
	var found *source
	var score [4]int
	for i := range v.found.places[text] {
		from := &v.found.places[text][i]
		if !v.before(from.call, c) {
			continue
		}
		next := [4]int{min(agreement(s, from, v), 2), -int(from.origin), -min(from.lists, 1), from.call}
		if found == nil || slices.Compare(next[:], score[:]) > 0 {
			found, score = from, next
		}
	}
	return found
}

// before reports whether a call had its answer when another one was sent.
func (v *visit) before(at int, c *call) bool {
	const clock = 2 * time.Millisecond // recordings round their times
	if at >= c.index {
		return false
	}
	ended := v.calls[at].answer().Ended()
	return c.Start.IsZero() || ended.IsZero() || !ended.After(c.Start.Add(clock))
}

// plausible reports whether a value may come from a place, rather than be equal to it by accident.
func plausible(s *slot, from *source, v *visit, text string) bool {
	fits := agreement(s, from, v)
	switch weigh(text) {
	case trivial:
		key, want := words(from.key), words(s.name)
		return fits >= 2 && len(text) > 0 && (isIdentifier(key[len(key)-1]) || isIdentifier(want[len(want)-1]))
	case wordy:
		return fits >= 2 || from.origin == fromField && from.key == s.name || from.origin == fromCookie && fits > 0
	case specific:
	}
	return true
}

// choice is a value that is an item of a list in an answer.
type choice struct {
	value *importer.Value
	call  *call
	slot  *slot
	from  source
	to    importer.From
}

// from makes the value that takes a text from its place.
func (b *builder) from(c *call, s *slot, place *source) importer.Value {
	v := b.visits[0]
	to := importer.From{Step: v.calls[place.call].step.ID, Path: place.path, Wrap: convert(s, place, place.wrap)}
	if s.value.Literal != nil && !isSecretName(s.name) && !isTokenName(s.name) && !isRandom(s.text) {
		to.Example = s.value.Literal
	}
	if place.origin == fromCookie {
		return importer.Value{Expr: place.wrap, Note: "the cookie that " + v.calls[place.call].step.Name + " sets"}
	}
	return importer.Value{From: &to}
}

// convert adds the conversion of a number to a text, or the other way round, that a JSON body needs.
func convert(s *slot, place *source, wrap string) string {
	if wrap == "" {
		wrap = "%s"
	}
	_, text := s.value.Literal.(string)
	switch {
	case s.value.Literal == nil || !strings.HasPrefix(s.at, "json"): // forms have texts only
	case text && place.number:
		wrap = "str(" + wrap + ")"
	case !text && !place.number:
		if _, ok := s.value.Literal.(int64); ok {
			wrap = "int(" + wrap + ")"
		} else {
			wrap = "float(" + wrap + ")"
		}
	}
	if wrap == "%s" {
		return ""
	}
	return wrap
}

// note explains the choice: at the value, or at the step if the value is a part of its path.
func (ch *choice) note(text string) {
	if ch.slot.place == inPath {
		ch.call.note(text)
		return
	}
	ch.value.Note = text
}

// choose decides how items of lists are taken. An item that one value uses is drawn, because another agent would choose another
// one; where several values use it, or more than one item of a list is used, they must stay together: the n-th item that the
// recording used becomes the n-th of the list.
func (b *builder) choose() {
	type item struct {
		call  int
		list  string
		index int
	}
	uses := make(map[item]int)
	order := make(map[item]int) // with index 0: the number of items that are used
	rank := make(map[item]int)
	for _, ch := range b.choices {
		at := item{ch.from.call, ch.from.list, ch.from.index}
		if uses[at]++; uses[at] == 1 {
			whole := item{at.call, at.list, -1}
			rank[at] = order[whole]
			order[whole]++
		}
	}
	for _, ch := range b.choices {
		at := item{ch.from.call, ch.from.list, ch.from.index}
		wrap := ch.to.Wrap
		if wrap == "" {
			wrap = "%s"
		}
		list := b.items(&ch.from)
		step := b.visits[0].calls[at.call].step.Name
		if uses[at] == 1 && len(list) > 1 {
			drawn := "pick(%s)"
			if flag := available(list, at.index); flag != "" {
				drawn = "pick([i for i in %s if i" + field(flag) + "])"
			}
			ch.to.Path, ch.to.Wrap = at.list, strings.Replace(wrap, "%s", drawn+percent(ch.from.rest), 1)
			ch.note(fmt.Sprintf("the recording chose item %d of %d of %s; each agent draws one", at.index+1, len(list), step))
		} else {
			ch.to.Path = at.list + "[" + itoa(rank[at]) + "]" + ch.from.rest
			if len(list) > 1 {
				ch.note(fmt.Sprintf("the recording chose item %d of %d of %s; each agent takes item %d", at.index+1, len(list), step, rank[at]+1))
			}
		}
		to := ch.to
		ch.value.From = &to
	}
}

// items returns the list that a place is in.
func (b *builder) items(from *source) []json.RawMessage {
	at := json.RawMessage(b.visits[0].calls[from.call].answer().Response.Body)
	for _, st := range from.way {
		if st.list {
			var list []json.RawMessage
			_ = json.Unmarshal(at, &list) // the place was found in it; if the text is cut off, the list is not known
			return list
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(at, &fields) != nil {
			return nil
		}
		at = fields[st.name]
	}
	return nil
}

// flags are names of fields that say whether an item can be chosen.
var flags = strings.Fields("in_stock instock available is_available active is_active enabled is_enabled")

// available returns the field that says that an item can be chosen, or "".
func available(list []json.RawMessage, index int) string {
	var fields map[string]any
	if index >= len(list) || json.Unmarshal(list[index], &fields) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] == true && slices.Contains(flags, snake(name)) {
			return name
		}
	}
	return ""
}
