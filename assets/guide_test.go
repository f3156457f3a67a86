package assets

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fence = regexp.MustCompile("(?ms)^```.*?^```$")
	code  = regexp.MustCompile("`[^`\n]+`")
	link  = regexp.MustCompile(`(!?)\[[^\]]*\]\(([^)\s]*)\)`)
)

// prose is a page without its code, in which nothing is a link or a table.
func prose(text string) string { return code.ReplaceAllString(fence.ReplaceAllString(text, ""), "") }

// anchors are what links to a page's headings are called, as Git hosts call them.
func anchors(text string) map[string]bool {
	all := map[string]bool{"": true}
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			all[strings.Map(func(r rune) rune {
				switch {
				case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
					return unicode.ToLower(r)
				case r == ' ':
					return '-'
				}
				return -1
			}, strings.TrimSpace(heading))] = true
		}
	}
	return all
}

// TestPages: every file of the guide is a page with one heading of the first level, which it begins with, or a picture
// that a page shows; what it is made of is drawn by the window as by a Git host.
func TestPages(t *testing.T) {
	pages := Pages()
	if len(pages) < 9 {
		t.Fatalf("only %d pages", len(pages))
	}
	shown := map[string]bool{}
	topics := map[string]bool{}
	for _, p := range pages {
		text := prose(p.Text)
		if n := len(regexp.MustCompile(`(?m)^# \S`).FindAllString(text, -1)); n != 1 || !strings.HasPrefix(text, "# "+p.Title+"\n") {
			t.Errorf("%s has %d headings of the first level and begins with %.40q", p.File, n, text)
		}
		if p.Topic == "" || topics[p.Topic] || p.File != language && !regexp.MustCompile(`^\d\d-[a-z-]+\.md$`).MatchString(p.File) {
			t.Errorf("%s is called %q", p.File, p.Topic)
		}
		topics[p.Topic] = true
		if html := regexp.MustCompile(`</?[a-zA-Z][^>]*>`).FindString(text); html != "" {
			t.Errorf("%s has HTML: %s", p.File, html)
		}
		if strings.Count(p.Text, "\n```")%2 != 0 {
			t.Errorf("a block of code in %s has no end", p.File)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if m[1] == "!" {
				shown[m[2]] = true
			}
		}
	}
	entries, err := fs.ReadDir(Guide(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); path.Ext(name) != ".md" && !shown[name] {
			t.Errorf("no page shows %s", name)
		}
	}
}

// TestLinks checks that what pages link to is embedded, down to the heading, and that they show pictures.
func TestLinks(t *testing.T) {
	n, pictures := 0, 0
	for _, p := range Pages() {
		for _, m := range link.FindAllStringSubmatch(prose(p.Text), -1) {
			picture, target := m[1] == "!", m[2]
			if strings.HasPrefix(target, "https://") && !picture {
				continue
			}
			n++
			name, anchor, _ := strings.Cut(target, "#")
			if name == "" {
				name = path.Base(p.File)
			}
			text, err := Linked(path.Join(path.Dir(p.File), name))
			switch {
			case err != nil:
				t.Errorf("%s links to %s: %v", p.File, target, err)
			case picture && path.Ext(name) != ".png":
				t.Errorf("the picture %s of %s is not a PNG", name, p.File)
			case picture:
				pictures++
			case !picture && !anchors(string(text))[anchor]:
				t.Errorf("%s links to %s, which has no such heading", p.File, target)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d links", n)
	}
	if pictures < 6 {
		t.Errorf("only %d pictures", pictures)
	}
}

// TestSearch looks for words in a page of its own, and finds passages by their words and headings.
func TestSearch(t *testing.T) {
	pages := []Page{
		{Topic: "one", Text: "# Top\n\nA disk that is full.\n\n## Latency\n\nThe mean.\n\n- Warning\n  from 1s\n- critical above 2s\n\n| a | b |\n|---|---|\n| low | 5s |\n\n```sh\n# full\n\ndisk\n```\n"},
		{Topic: "two", Text: "# Latency\n\nA Full\ndisk.\n"},
	}
	for _, tt := range []struct {
		words string
		want  []string
	}{
		{"full disk", []string{"A disk that is full.", "```sh\n# full\n\ndisk\n```", "A Full\ndisk."}},
		{"LATENCY", []string{"The mean.", "A Full\ndisk."}},
		{"latency critical", []string{"- critical above 2s"}},
		{"warning 1s", []string{"- Warning\n  from 1s"}},
		{"5s", []string{"| low | 5s |"}},
		{"critical mean", nil},
		{" ", nil},
	} {
		found := Search(pages, tt.words)
		if len(found) != len(tt.want) {
			t.Errorf("%q is found %d times: %+v", tt.words, len(found), found)
			continue
		}
		for i, p := range found {
			if p.Text != tt.want[i] {
				t.Errorf("%q: %q, want %q", tt.words, p.Text, tt.want[i])
			}
		}
	}
	if found := Search(pages, "latency mean"); len(found) != 1 || found[0].Heading != "Latency" || found[0].Line != 6 || found[0].Page.Topic != "one" {
		t.Errorf("%+v", found)
	}
}
