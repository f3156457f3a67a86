package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/importing"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine/importer"
)

// importCmd makes a scenario from what is known of a backend.
type importCmd struct {
	Source  string   `arg:"" help:"Address of a backend or of its OpenAPI document; or a file: OpenAPI, Swagger, HAR, Postman collection, cURL commands; - reads standard input."`
	Second  string   `arg:"" optional:"" help:"Second recording of the same visit: what differs between the two is not fixed."`
	Output  string   `short:"o" placeholder:"FILE" help:"Scenario file to write, or to merge into (default: named after the source)."`
	Journey string   `placeholder:"STEPS" help:"Steps in words, in their order: \"login, search, add to cart, order\" (default: the proposed ones)."`
	Users   string   `placeholder:"FILE" help:"CSV or JSONL file of the agents, such as user names and passwords."`
	URL     string   `name:"url" placeholder:"URL" help:"Address of the backend, instead of the one in the source."`
	Host    []string `placeholder:"HOST" help:"Host of the backend in a recording; may be repeated (default: chosen)."`
	Allow   []string `placeholder:"HOST" help:"Other host that the document may refer to; may be repeated."`
	CA      string   `name:"ca" placeholder:"FILE" help:"PEM certificates to trust at the address, instead of the system's."`
	Title   string   `help:"Title of the scenario."`
	List    bool     `help:"List the steps that the source has; write nothing."`
	jsonFlag
}

// Run is called by kong.
func (c *importCmd) Run(ctx context.Context, t *terminal) error {
	o := importing.Options{Source: c.Source, Second: c.Second, Journey: c.Journey, Users: c.Users, URL: c.URL, Hosts: c.Host, Allow: c.Allow, Title: c.Title}
	if c.CA != "" {
		var err error
		if o.CA, err = os.ReadFile(c.CA); err != nil {
			return err
		}
	}
	if c.Source == "-" {
		text, err := io.ReadAll(t.in)
		if err != nil {
			return err
		}
		o.Source, o.Text = "", text
	}
	d, err := importing.Read(ctx, o)
	if err != nil {
		return err
	}
	a := answer.NewImport(d)
	if c.List {
		if t.json {
			return t.print(a)
		}
		return show.ImportSteps(t.out, d, true)
	}
	file := c.Output
	if file == "" {
		file = fileFor(c.Source, d)
	}
	saved, err := importing.Save(d, file, t.data)
	if err != nil {
		return err
	}
	if t.json {
		return t.print(a.With(saved))
	}
	if err := show.Import(t.out, d, saved, file); err != nil {
		return err
	}
	next := "throngctl try " + file
	if host := hostOf(d); host != "" {
		next += " --allow " + host
	}
	fmt.Fprintf(t.out, "\nNext: %s\n", next)
	return nil
}

// fileFor names the scenario after the source, or after its title where the source has no telling name.
func fileFor(source string, d *importer.Draft) string {
	name := ""
	if !importing.IsAddress(source) && source != "-" {
		base := filepath.Base(source)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	switch strings.ToLower(name) {
	case "", "openapi", "swagger", "recording", "collection":
		name = strings.ReplaceAll(importer.Identifier(strings.ToLower(d.Title)), "_", "-")
	}
	if name == "" {
		name = "imported"
	}
	file := name + ".yaml"
	if file == filepath.Base(source) || strings.EqualFold(file, "openapi.yaml") {
		file = name + "-scenario.yaml"
	}
	return file
}

// hostOf returns the host that --allow takes for the first service.
func hostOf(d *importer.Draft) string {
	if len(d.Services) == 0 {
		return ""
	}
	u, err := url.Parse(d.Services[0].URL)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip.IsLoopback() { // the user's own file needs no permission
		return ""
	}
	return u.Host
}
