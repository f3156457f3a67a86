package importer

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// indent is the number of spaces of a level in what is written.
const indent = 2

// addConstants adds to a file the constants that new steps use and that its functions do not have.
func (d *Draft) addConstants(text []byte, steps string) ([]byte, error) {
	w := &writer{draft: d, now: -1}
	for _, c := range d.Data {
		if !c.Attribute && uses(steps, c.Name) && !regexp.MustCompile(`(?m)^\s*`+regexp.QuoteMeta(c.Name)+`\s*=`).Match(text) {
			w.constant(c)
		}
	}
	added := w.text.String()
	if added == "" {
		return text, nil
	}
	top, err := topOf(text)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	key, value := entry(top, "functions")
	switch {
	case key == nil:
		for i := 0; i < len(top); i += 2 {
			if strings.HasPrefix(top[i].Value, "chain") {
				return insert(lines, headOf(lines, top[i].Line-1), "functions: |\n"+added+"\n"), nil
			}
		}
		return nil, errNoImport
	case value.Style&yaml.LiteralStyle == 0 || value.Value == "":
		return nil, fmt.Errorf("its functions are not a block of text; new steps need these constants in them: %s", strings.TrimSpace(added))
	}
	first := key.Line
	for len(bytes.TrimSpace(lines[first])) == 0 {
		first++
	}
	depth := len(lines[first]) - len(bytes.TrimLeft(lines[first], " "))
	return insert(lines, first, indented(added, depth-indent)), nil
}

// addAttributes adds to a file the attributes of agents that new steps use and that it does not have. A file of agents may have them.
func (d *Draft) addAttributes(text []byte, steps string) ([]byte, error) {
	top, err := topOf(text)
	if err != nil {
		return nil, err
	}
	key, population := entry(top, "population")
	if key == nil || population.Kind != yaml.MappingNode || population.Style&yaml.FlowStyle != 0 {
		return text, nil
	}
	of, list := entry(population.Content, "attributes")
	if from, _ := entry(population.Content, "from"); from != nil || of != nil && (list.Kind != yaml.MappingNode || list.Style&yaml.FlowStyle != 0) {
		return text, nil
	}
	w := &writer{draft: d, now: -1}
	for _, a := range d.Data {
		if !a.Attribute || !uses(steps, "agent."+a.Name) {
			continue
		}
		if of != nil {
			if known, _ := entry(list.Content, a.Name); known != nil {
				continue
			}
		}
		w.value(2, a.Name, a.Value, a.Note)
	}
	added := w.text.String()
	lines := bytes.SplitAfter(text, []byte("\n"))
	switch {
	case added == "":
		return text, nil
	case of == nil:
		depth := population.Content[0].Column - 1
		return insert(lines, key.Line, indented("  attributes:\n"+added, depth-indent)), nil
	}
	return insert(lines, of.Line, indented(added, list.Content[0].Column-1-2*indent)), nil
}

// topOf returns the keys and values of a file.
func topOf(text []byte) ([]*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("it is not YAML: %w", err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errNoImport
	}
	return doc.Content[0].Content, nil
}

// entry returns a key and its value from the content of a mapping; nil if it has no such key.
func entry(content []*yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Value == name {
			return content[i], content[i+1]
		}
	}
	return nil, nil
}

// insert inserts a text after some lines.
func insert(lines [][]byte, after int, text string) []byte {
	var out bytes.Buffer
	out.Write(bytes.Join(lines[:after], nil))
	out.WriteString(text)
	out.Write(bytes.Join(lines[after:], nil))
	return out.Bytes()
}

// indented moves the lines of a text to the right, or to the left.
func indented(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if by >= 0 {
			out.WriteString(strings.Repeat(" ", by) + line)
		} else {
			spaces := len(line) - len(strings.TrimLeft(line, " "))
			out.WriteString(line[min(-by, spaces):])
		}
	}
	return out.String()
}
