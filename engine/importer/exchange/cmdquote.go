package exchange

import (
	"regexp"
	"strings"
)

var cmdLine = regexp.MustCompile(`(?m)\^"|[ \t]\^\r?$`)

// isCmd reports whether commands are quoted for cmd, the shell of Windows.
func isCmd(text string) bool { return cmdLine.MatchString(text) && !strings.Contains(text, " '") }

// cmdWords splits commands into words as cmd and the C library of Windows do: first ^ escapes the next character, except between
// unescaped quotes; then quotes hold words together, and \" is a quote.
func cmdWords(text string) (commands [][]string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var line strings.Builder
	quoted := false
	end := func() {
		if words := windowsWords(line.String()); len(words) > 0 {
			commands = append(commands, words)
		}
		line.Reset()
		quoted = false
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case ch == '^' && !quoted && i+1 < len(text):
			i++
			switch {
			case text[i] != '\n':
				line.WriteByte(text[i])
			case i+1 < len(text) && text[i+1] == '\n': // an escaped line break is written as ^, two breaks
				i++
				line.WriteByte('\n')
			default:
				line.WriteByte(' ')
			}
		case ch == '^' && quoted && i+1 < len(text) && text[i+1] == '\n':
			i++
		case ch == '"':
			quoted = !quoted
			line.WriteByte(ch)
		case !quoted && (ch == '\n' || ch == '&'):
			end()
		default:
			line.WriteByte(ch)
		}
	}
	end()
	return commands
}

// windowsWords splits a command line. See "Parsing C command-line arguments" in Microsoft's C reference.
func windowsWords(line string) (words []string) {
	var word strings.Builder
	quoted, started := false, false
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case ch == '\\':
			n := 1
			for i+n < len(line) && line[i+n] == '\\' {
				n++
			}
			started = true
			if i+n < len(line) && line[i+n] == '"' {
				word.WriteString(strings.Repeat(`\`, n/2))
				if n%2 == 1 {
					word.WriteByte('"')
					n++
				}
			} else {
				word.WriteString(strings.Repeat(`\`, n))
			}
			i += n - 1
		case ch == '"' && quoted && i+1 < len(line) && line[i+1] == '"':
			word.WriteByte('"')
			i++
		case ch == '"':
			quoted, started = !quoted, true
		case !quoted && (ch == ' ' || ch == '\t'):
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			started = true
			word.WriteByte(ch)
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}
