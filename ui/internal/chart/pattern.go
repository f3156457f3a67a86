package chart

// pattern is the dash pattern of a line, which distinguishes lines without color. The numbers are device-independent pixels along the
// horizontal axis. Between dashes a line is faint instead of invisible, because a peak could be there.
type pattern struct{ on, off int }

// patterns are the patterns of the series, in order.
var patterns = [...]pattern{{}, {}, {9, 5}, {3, 4}}

// betweenDashes is a line's alpha between dashes, out of 255.
const betweenDashes = 70

func patternOf(series int) pattern { return patterns[series%len(patterns)] }

// patternOf returns the pattern of a series in the drawing.
func (p *plot) patternOf(series int) pattern { return patternIn(p.stacked, series) }

// patternIn returns the pattern of a series. In a stack, only the series that have the colors a second time have dashes.
func patternIn(stack bool, series int) pattern {
	switch {
	case !stack:
		return patternOf(series)
	case series < len(seriesColors):
		return pattern{}
	}
	return patterns[2]
}
