package exchange

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// ReadCURL reads one or several curl commands, as browsers copy them for bash and for cmd. Commands that are not curl are listed
// in the notes. Shell variables become variables in the manner of Postman: $TOKEN is {{TOKEN}}.
func ReadCURL(text string) (*Recording, error) {
	to := &Recording{}
	var commands [][]string
	var err error
	if isCmd(text) {
		commands = cmdWords(text)
	} else if commands, err = shellWords(text, to); err != nil {
		return nil, err
	}
	for _, words := range commands {
		if len(words) == 0 {
			continue
		}
		name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(words[0], `\`, "/"))), ".exe")
		if name != "curl" {
			to.note("The command %s was not imported: only curl is.", shorten(words[0]))
			continue
		}
		c := curlCommand{to: to}
		c.read(words[1:])
	}
	if len(to.Exchanges) == 0 {
		return nil, errors.New("there is no curl command with a URL. In the network tab of the browser, choose \"Copy as cURL\"")
	}
	to.Source = fmt.Sprintf("%d curl commands", len(to.Exchanges))
	if len(to.Exchanges) == 1 {
		to.Source = "a curl command"
	}
	return to, nil
}

// note adds a sentence once.
func (r *Recording) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

func shorten(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// shellWords splits commands into words as bash does. It runs nothing.
func shellWords(text string, to *Recording) ([][]string, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\n$ ", "\n"), "$ ") // prompts of pasted terminals
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("the command is incomplete or misquoted (%w). Copy it again, wholly", err)
	}
	var commands [][]string
	var failed error
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || failed != nil {
			return failed == nil
		}
		var words []string
		for _, w := range call.Args {
			word, err := literal(w, to)
			if err != nil {
				failed = err
			}
			words = append(words, word)
		}
		commands = append(commands, words)
		return false
	})
	return commands, failed
}

// literal returns the text of a word. A command in it is not run.
func literal(w *syntax.Word, to *Recording) (string, error) {
	syntax.Walk(w, func(n syntax.Node) bool {
		var parts *[]syntax.WordPart
		switch n := n.(type) {
		case *syntax.Word:
			parts = &n.Parts
		case *syntax.DblQuoted:
			parts = &n.Parts
		default:
			return true
		}
		for i, p := range *parts {
			switch p := p.(type) {
			case *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
				to.Templates = true
				(*parts)[i] = &syntax.Lit{Value: "{{command}}"}
				to.note("A shell command inside of a curl command was not run; its place is marked.")
			case *syntax.ParamExp:
				to.Templates = true
				name := "parameter"
				if p.Param != nil {
					name = p.Param.Value
				}
				(*parts)[i] = &syntax.Lit{Value: "{{" + name + "}}"}
			}
		}
		return true
	})
	text, err := expand.Literal(&expand.Config{Env: expand.FuncEnviron(func(string) string { return "" })}, w)
	if err != nil {
		return "", fmt.Errorf("the command has a word that cannot be read: %w", err)
	}
	return text, nil
}

// curlCommand collects the options of a command.
type curlCommand struct {
	to          *Recording
	urls        []string
	method      string
	headers     []Field
	data        []string
	parts       []Part
	query       []string
	get, head   bool
	follow, jar bool
	json, asked bool // --json; a body was asked for
}

// curlOption is what an option of curl does.
type curlOption struct {
	value  bool // it takes a value
	action func(c *curlCommand, value string)
}

// curlShort are the long names of short options.
var curlShort = map[byte]string{
	'H': "header", 'X': "request", 'd': "data", 'F': "form", 'u': "user", 'b': "cookie", 'A': "user-agent", 'e': "referer", 'G': "get",
	'I': "head", 'L': "location", 'k': "insecure", 's': "silent", 'S': "show-error", 'v': "verbose", 'i': "include", 'f': "fail", 'o': "output",
	'x': "proxy", 'm': "max-time", 'E': "cert", 'T': "upload-file", 'c': "cookie-jar", 'w': "write-out", 'N': "no-buffer", 'g': "globoff",
	'O': "remote-name", '4': "ipv4", '6': "ipv6", 'q': "disable", '#': "progress-bar", 'D': "dump-header", 'r': "range", 'K': "config",
	'0': "http1.0", 'J': "remote-header-name", 'Z': "parallel", 'C': "continue-at", 'Y': "speed-limit", 'y': "speed-time", 'U': "proxy-user",
}

// curlIgnored are options without a meaning for a scenario; those that take a value are true.
var curlIgnored = map[string]bool{
	"compressed": false, "silent": false, "show-error": false, "verbose": false, "include": false, "fail": false, "fail-with-body": false,
	"output": true, "max-time": true, "connect-timeout": true, "write-out": true, "no-buffer": false, "globoff": false,
	"remote-name": false, "ipv4": false, "ipv6": false, "disable": false, "progress-bar": false, "dump-header": true, "http1.0": false,
	"http1.1": false, "http2": false, "http2-prior-knowledge": false, "http3": false, "remote-header-name": false, "parallel": false,
	"user-agent": true, "retry": true, "retry-delay": true, "retry-max-time": true, "max-redirs": true, "tlsv1.2": false, "tlsv1.3": false,
	"no-progress-meter": false, "tcp-nodelay": false, "keepalive-time": true, "location-trusted": false, "path-as-is": false,
	"retry-connrefused": false, "retry-all-errors": false, "stderr": true, "trace": true, "trace-ascii": true, "no-keepalive": false, "styled-output": false,
}

// curlOptions are the options that matter.
var curlOptions = map[string]curlOption{
	"header":         {true, (*curlCommand).header},
	"request":        {true, func(c *curlCommand, v string) { c.method = strings.ToUpper(v) }},
	"url":            {true, func(c *curlCommand, v string) { c.urls = append(c.urls, v) }},
	"data":           {true, func(c *curlCommand, v string) { c.body(strings.NewReplacer("\r", "", "\n", "").Replace, v) }},
	"data-ascii":     {true, func(c *curlCommand, v string) { c.body(strings.NewReplacer("\r", "", "\n", "").Replace, v) }},
	"data-raw":       {true, func(c *curlCommand, v string) { c.data, c.asked = append(c.data, v), true }},
	"data-binary":    {true, func(c *curlCommand, v string) { c.body(nil, v) }},
	"data-urlencode": {true, (*curlCommand).encoded},
	"json":           {true, func(c *curlCommand, v string) { c.json = true; c.body(nil, v) }},
	"form":           {true, (*curlCommand).form},
	"form-string":    {true, func(c *curlCommand, v string) { c.part(v, false) }},
	"user": {true, func(c *curlCommand, v string) {
		c.set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(v)))
	}},
	"oauth2-bearer": {true, func(c *curlCommand, v string) { c.set("Authorization", "Bearer "+v) }},
	"cookie":        {true, (*curlCommand).cookie},
	"cookie-jar":    {true, (*curlCommand).cookieJar},
	"referer":       {true, func(c *curlCommand, v string) { c.set("Referer", v) }},
	"url-query":     {true, func(c *curlCommand, v string) { c.query = append(c.query, encode(v)) }},
	"get":           {false, func(c *curlCommand, _ string) { c.get = true }},
	"head":          {false, func(c *curlCommand, _ string) { c.head = true }},
	"location":      {false, func(c *curlCommand, _ string) { c.follow = true }},
	"insecure": {false, func(c *curlCommand, _ string) {
		c.to.note("--insecure was not imported: certificates are always verified. Name the CA of your backend in tls of its service.")
	}},
	"cacert": {true, func(c *curlCommand, _ string) {
		c.to.note("--cacert was not imported: name the CA in tls of the service.")
	}},
	"cert": {true, func(c *curlCommand, _ string) {
		c.to.note("--cert was not imported: name cert and key in tls of the service.")
	}},
	"key": {true, func(c *curlCommand, _ string) {
		c.to.note("--key was not imported: name cert and key in tls of the service.")
	}},
	"proxy":       {true, func(c *curlCommand, _ string) { c.to.note("--proxy was not imported.") }},
	"proxy-user":  {true, func(c *curlCommand, _ string) { c.to.note("--proxy-user was not imported.") }},
	"resolve":     {true, func(c *curlCommand, _ string) { c.to.note("--resolve was not imported.") }},
	"upload-file": {true, func(c *curlCommand, _ string) { c.upload() }},
	"config":      {true, func(c *curlCommand, _ string) { c.to.note("The file of --config was not read.") }},
	"range":       {true, func(c *curlCommand, v string) { c.set("Range", "bytes="+v) }},
}

// read reads the words after curl.
func (c *curlCommand) read(words []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		value := func() string {
			if i+1 < len(words) {
				i++
				return words[i]
			}
			c.to.note("The option %s of a curl command has no value.", shorten(w))
			return ""
		}
		switch {
		case w == "--next" || w == "-:":
			c.finish()
			*c = curlCommand{to: c.to}
		case strings.HasPrefix(w, "--") && len(w) > 2:
			c.long(w[2:], value)
		case strings.HasPrefix(w, "-") && len(w) > 1:
			c.short(w[1:], value)
		default:
			c.urls = append(c.urls, w)
		}
	}
	c.finish()
}

func (c *curlCommand) long(name string, value func() string) {
	if o, ok := curlOptions[name]; ok {
		text := ""
		if o.value {
			text = value()
		}
		o.action(c, text)
		return
	}
	takes, known := curlIgnored[name]
	if takes {
		value()
	}
	if !known {
		c.to.note("The curl option --%s was not imported: it is unknown here.", shorten(name))
	}
}

// short reads options of one letter, which may stand together: -sSL, -XPOST.
func (c *curlCommand) short(letters string, value func() string) {
	for i := range len(letters) {
		name, ok := curlShort[letters[i]]
		if !ok {
			c.to.note("The curl option -%c was not imported: it is unknown here.", letters[i])
			continue
		}
		rest := letters[i+1:]
		if curlOptions[name].value || curlIgnored[name] {
			if rest != "" {
				value = func() string { return rest }
			}
			c.long(name, value)
			return
		}
		c.long(name, value)
	}
}

func (c *curlCommand) set(name, value string) {
	c.headers = append(c.headers, Field{name, value})
}

func (c *curlCommand) header(text string) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		if name, ok = strings.CutSuffix(text, ";"); ok {
			c.set(strings.TrimSpace(name), "")
		}
		return
	}
	if name = strings.TrimSpace(name); name != "" && strings.TrimSpace(value) != "" { // "Name:" removes a header
		c.set(name, strings.TrimSpace(value))
	}
}

// body adds data, in which @ names a file.
func (c *curlCommand) body(clean func(string) string, text string) {
	c.asked = true
	if file, ok := strings.CutPrefix(text, "@"); ok {
		c.to.note("The body is in the file %s, which was not read: put its text into the step.", shorten(path.Base(file)))
		return
	}
	if clean != nil {
		text = clean(text)
	}
	c.data = append(c.data, text)
}

func (c *curlCommand) encoded(text string) {
	c.asked = true
	c.data = append(c.data, encode(text))
}

// encode escapes the value of --data-urlencode: value, =value, name=value.
func encode(text string) string {
	name, value, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return url.QueryEscape(text)
	case name == "":
		return url.QueryEscape(value)
	}
	return name + "=" + url.QueryEscape(value)
}

func (c *curlCommand) form(text string) { c.part(text, true) }

func (c *curlCommand) part(text string, files bool) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		c.to.note("A field of a form has no value: %s.", shorten(name))
		return
	}
	c.asked = true
	p := Part{Name: name, Value: value}
	if files && (strings.HasPrefix(value, "@") || strings.HasPrefix(value, "<")) {
		file, options, _ := strings.Cut(value[1:], ";")
		p.Value, p.File = "", path.Base(strings.Trim(file, `"`))
		for option := range strings.SplitSeq(options, ";") {
			if kind, ok := strings.CutPrefix(strings.TrimSpace(option), "type="); ok {
				p.Type = kind
			}
		}
	} else if files {
		p.Value, _, _ = strings.Cut(strings.Trim(value, `"`), ";type=")
	}
	c.parts = append(c.parts, p)
}

func (c *curlCommand) cookie(text string) {
	if strings.Contains(text, "=") {
		c.set("Cookie", text)
		return
	}
	c.jar = true
	if text != "" && !slices.Contains(c.to.jars, text) { // no earlier command wrote it
		c.to.note("The cookies are in the file %s, which was not read.", shorten(path.Base(text)))
	}
}

// cookieJar notes that cookies are kept for later commands.
func (c *curlCommand) cookieJar(file string) {
	c.jar, c.to.jars = true, append(c.to.jars, file)
}

func (c *curlCommand) upload() {
	if c.method == "" {
		c.method = "PUT"
	}
	c.to.note("The file of --upload-file was not read: put its text into the step.")
}

// finish adds the requests of the command.
func (c *curlCommand) finish() {
	for _, address := range c.urls {
		if !strings.Contains(address, "://") && !strings.HasPrefix(address, "{{") {
			address = "http://" + address
		}
		e := Exchange{Follow: c.follow, Jar: c.jar, URL: address, Request: Message{Headers: slices.Clone(c.headers), Parts: c.parts}}
		data := strings.Join(c.data, "&")
		extra := slices.Clone(c.query)
		if c.get && data != "" {
			extra, data = append(extra, data), ""
		}
		if more := strings.Join(extra, "&"); more != "" {
			e.URL += map[bool]string{true: "&", false: "?"}[strings.Contains(e.URL, "?")] + more
		}
		e.Request.Body = data
		if c.json {
			e.Request.Headers = withDefault(withDefault(e.Request.Headers, "Content-Type", "application/json"), "Accept", "application/json")
		}
		e.Request.Type = e.Request.Header("Content-Type")
		switch {
		case len(c.parts) > 0:
			e.Request.Type = "multipart/form-data"
		case e.Request.Type == "" && data != "":
			e.Request.Type = "application/x-www-form-urlencoded"
		}
		method := "GET"
		switch {
		case c.head:
			method = "HEAD"
		case c.asked && !c.get:
			method = "POST"
		}
		e.Method = cmp.Or(c.method, method)
		c.to.Exchanges = append(c.to.Exchanges, e)
	}
}

func withDefault(headers []Field, name, value string) []Field {
	if slices.ContainsFunc(headers, func(f Field) bool { return strings.EqualFold(f.Name, name) }) {
		return headers
	}
	return append(headers, Field{name, value})
}
