package flags

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// Errors of the parser that only its authors understand.
var (
	negative = regexp.MustCompile(`^(--[a-z0-9-]+): expected .* value but got "(-[^"]*)" \(`)
	missing  = regexp.MustCompile(`^expected "<([^>]+)>`)
	pairs    = regexp.MustCompile(`^(--[a-z0-9-]+): expected "<key>=<value>" but got (".*")$`)
	number   = regexp.MustCompile(`^<([^>]+)>: expected a valid 64 bit int but got (".*")$`)
)

// Plain replaces errors of the parser in the command line of a command.
func Plain(err error, command *kong.Node) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if m := negative.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s takes a value; if it is %s, write %s=%s", m[1], m[2], m[1], m[2])
	}
	if m := missing.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("the argument <%s> is missing", m[1])
	}
	if m := pairs.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s takes NAME=VALUE, not %s", m[1], m[2])
	}
	if m := number.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: %s is not a whole number", m[1], m[2])
	}
	var names []string
	for _, child := range command.Children {
		names = append(names, child.Name)
	}
	word, unexpected := strings.CutPrefix(text, "unexpected argument ")
	switch absent := strings.HasPrefix(text, "expected one of "); {
	case absent && command.Parent == nil:
		return errors.New("a command is missing; throngctl help lists them")
	case absent:
		return fmt.Errorf("a command is missing; choose %s", strings.Join(names, ", "))
	case unexpected && len(names) > 0:
		return fmt.Errorf("unknown command %q; choose %s", word, strings.Join(names, ", "))
	}
	return err
}
