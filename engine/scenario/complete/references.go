package complete

import (
	"slices"
	"strings"
)

// reference returns the names of the scenario that a key can have as its value.
func (c *cursor) reference(n *node) []name {
	key := n.key
	if n.item && n.parent != nil {
		key = n.parent.key
	}
	switch key {
	case "service", "fallback":
		of := c.owner(n)
		if of != nil && of.key == "write" {
			return c.services("llm")
		}
		return c.services(serviceKind(c.kind(of)))
	case "target":
		return c.targets(n)
	case "tools":
		return c.tools()
	case "depends_on":
		return c.siblings(n)
	case "run", "chain", "cleanup":
		return c.chains()
	case "acted", "events", "event":
		return c.events()
	case "to":
		return []name{{"all", "", "All other agents.", nil}}
	case "get", "post", "put", "patch", "delete":
		return c.paths(n)
	case "url":
		return c.mocks(n)
	}
	return nil
}

// owner returns the step, connector, service or writer that a node belongs to; nil if there is none.
func (o *outline) owner(n *node) *node {
	for n = n.parent; n != nil; n = n.parent {
		if _, step := o.stepName(n); step || n.get("kind") != nil || n.get("type") != nil || n.key == "write" {
			return n
		}
	}
	return nil
}

// serviceKind returns the kind of service that a kind of step calls; "" is any.
func serviceKind(step string) string {
	switch step {
	case "http":
		return "http"
	case "sql":
		return "postgres"
	case "llm", "embed", "recall":
		return "llm"
	}
	return ""
}

func (c *cursor) targets(n *node) []name {
	switch c.kind(c.owner(n)) {
	case "python":
		return slices.DeleteFunc(c.ownFunctions(), func(f name) bool { return !strings.Contains(f.detail, "(") })
	case "connector":
		return c.connectors()
	case "chain":
		return c.chains()
	}
	return nil
}

// ownFunctions returns the functions and constants of the scenario.
func (c *cursor) ownFunctions() []name {
	of := c.root.get("functions")
	if of != nil && of.block {
		_, text, _ := strings.Cut(c.text[of.valFrom:of.valTo], "\n")
		return functions(text)
	}
	return functions(c.Functions)
}

// tools returns what the model of a step may call: the tools of the scenario, and the servers.
func (c *cursor) tools() (all []name) {
	if of := c.root.get("tools"); of != nil {
		for _, t := range of.children {
			all = append(all, name{name: t.key, detail: "tool", help: sentence(c.value(t.get("about")), "A tool of this scenario")})
		}
	}
	for _, s := range c.services("mcp") {
		all = append(all, name{name: "mcp:" + s.name, detail: "server", help: "All tools of the MCP server."})
	}
	return all
}

// siblings returns the steps that a step can depend on.
func (o *outline) siblings(n *node) (all []name) {
	of := o.step(n)
	if of == nil {
		return nil
	}
	waits := o.texts(of.get("depends_on"))
	for _, s := range o.steps(of.parent) {
		if called, _ := o.stepName(s); s != of && called != "" && !slices.Contains(waits, called) {
			all = append(all, name{name: called, detail: o.kind(s) + " step", help: sentence(o.value(s.get("label")), "A step of the same block")})
		}
	}
	return all
}

// paths returns the paths that other steps request from the same service.
func (o *outline) paths(n *node) (all []name) {
	of := o.owner(n)
	service := o.value(of.get("service"))
	for _, path := range o.values(func(other *node) bool {
		return slices.Contains(exclusive("get"), other.key) && other.parent != of && o.value(other.parent.get("service")) == service
	}) {
		all = append(all, name{name: path, detail: "path", help: "Requested by another step."})
	}
	return all
}

// mocks returns the address of the mock for a service.
func (o *outline) mocks(n *node) []name {
	switch o.kind(n.parent) {
	case "http":
		return []name{{"mock:shop", "", "The mock shop in this program.", nil}, {"mock:openapi.yaml", "", "A mock of the API that the document describes.", nil}}
	case "llm":
		return []name{{"mock:model", "", "The mock model in this program.", nil}}
	}
	return nil
}
