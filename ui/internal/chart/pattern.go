package chart

// pattern is the dash pattern of a line, which distinguishes lines without color. The numbers are device-independent pixels along the
// horizontal axis. Between dashes a line is faint instead of invisible, because a peak could be there.
type pattern struct{ on, off int }

// patterns are the patterns of the series, in order.
var patterns = [...]pattern{{}, {}, {9, 5}, {3, 4}}

// betweenDashes is a line's alpha between dashes, out of 255.
const betweenDashes = 70

func patternOf(series int) pattern { return patterns[series%len(patterns)] }
