package chart

// pattern is how a line is drawn beside its colour, so that lines can be told apart without it. The numbers are
// device-independent pixels along the horizontal axis; between the dashes a line is faint, not away, as a peak could be
// there.
type pattern struct{ on, off int }

// patterns are those of the series, in their order.
var patterns = [...]pattern{{}, {}, {9, 5}, {3, 4}}

// betweenDashes is a line's strength there, of 255.
const betweenDashes = 70

func patternOf(series int) pattern { return patterns[series%len(patterns)] }
