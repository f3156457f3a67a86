package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	blocks   = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	inline   = regexp.MustCompile("`([^`]+)`")
	commands = regexp.MustCompile(`^((bin/)?throngctl|make|go|sudo|export|tar|shasum|xattr|CC=\S+) \S|^\./\S`)
)

// spans returns the commands within the text of each document that are in no code block: commands for a run in progress
// together, all others separately. Commands without arguments are tried with --help.
func spans(names []string, texts map[string]string) map[string][][]string {
	seen := map[string]bool{}
	for _, text := range texts {
		for _, lines := range fenced(text, "sh") {
			for line := range strings.SplitSeq(lines, "\n") {
				command, _, _ := strings.Cut(line, " #")
				seen[strings.TrimSpace(command)] = true
			}
		}
	}
	all := map[string][][]string{}
	for _, name := range names {
		var ordered []string
		for _, m := range inline.FindAllStringSubmatch(blocks.ReplaceAllString(texts[name], ""), -1) {
			line := strings.Join(strings.Fields(m[1]), " ")
			if seen[line] || !commands.MatchString(line) {
				continue
			}
			seen[line] = true
			words := strings.Fields(line)
			switch {
			case words[0] == "throngctl" && len(words) == 2 && !strings.HasPrefix(words[1], "-"):
				all[name] = append(all[name], []string{line + " --help"})
			case words[0] == "throngctl" && slices.Contains(orderLines, words[1]):
				ordered = append(ordered, line)
			default:
				all[name] = append(all[name], []string{line})
			}
		}
		if ordered != nil {
			all[name] = append(all[name], ordered)
		}
	}
	return all
}

// spared reports whether a command of the documents is not executed.
func spared(words []string) bool {
	line := strings.Join(words, " ") + " "
	return slices.ContainsFunc(unattended, func(u struct{ command, why string }) bool { return strings.HasPrefix(line, u.command+" ") })
}

// TestUnattended checks that the documents have every command in unattended.
func TestUnattended(t *testing.T) {
	names, texts := documents(t)
	all := "\n"
	for _, name := range names {
		all += strings.Join(append(fenced(texts[name], "sh"), fenced(texts[name], "powershell")...), "")
		for _, m := range inline.FindAllStringSubmatch(blocks.ReplaceAllString(texts[name], ""), -1) {
			all += strings.Join(strings.Fields(m[1]), " ") + "\n"
		}
	}
	for _, u := range unattended {
		if !regexp.MustCompile(`(?m)^(bin/)?` + regexp.QuoteMeta(u.command) + `( |$)`).MatchString(all) {
			t.Errorf("no document has %s", u.command)
		}
	}
}

// TestBlocks checks that code blocks without a known language, which are not tested, contain no commands.
func TestBlocks(t *testing.T) {
	names, texts := documents(t)
	n := 0
	for _, name := range names {
		for _, m := range blocks.FindAllStringSubmatch(texts[name], -1) {
			n++
			if slices.Contains([]string{"sh", "powershell", "sql", "yaml"}, m[1]) {
				continue
			}
			for line := range strings.SplitSeq(m[2], "\n") {
				if commands.MatchString(line) {
					t.Errorf("%s: a block in %q has %s", name, m[1], line)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d blocks", n)
	}
}
