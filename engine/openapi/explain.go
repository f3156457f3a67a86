package openapi

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	faultkind "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain says what is wrong at one place. Values of the document are not repeated, since they may be secret.
func explain(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *faultkind.Type:
		return fmt.Sprintf("got %s, expected %s", article(k.Got), strings.Join(articles(k.Want), " or "))
	case *faultkind.Required:
		return "missing " + strings.Join(shortened(k.Missing), ", ")
	case *faultkind.Enum:
		return "expected one of " + values(k.Want)
	case *faultkind.Const:
		return "expected " + values([]any{k.Want})
	case *faultkind.AdditionalProperties:
		return "unexpected " + strings.Join(shortened(k.Properties), ", ")
	case *faultkind.Pattern:
		return "does not match the pattern " + short(k.Want)
	case *faultkind.Format:
		return "is not a valid " + short(k.Want)
	case *faultkind.MinLength:
		return fmt.Sprintf("has %d characters, expected at least %d", k.Got, k.Want)
	case *faultkind.MaxLength:
		return fmt.Sprintf("has %d characters, expected at most %d", k.Got, k.Want)
	case *faultkind.MinItems:
		return fmt.Sprintf("has %d items, expected at least %d", k.Got, k.Want)
	case *faultkind.MaxItems:
		return fmt.Sprintf("has %d items, expected at most %d", k.Got, k.Want)
	case *faultkind.Minimum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("is too small, expected at least %v", f)
	case *faultkind.Maximum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("is too large, expected at most %v", f)
	case *faultkind.ExclusiveMinimum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("is too small, expected more than %v", f)
	case *faultkind.ExclusiveMaximum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("is too large, expected less than %v", f)
	case *faultkind.OneOf:
		if len(k.Subschemas) > 0 {
			return "fits more than one of the forms, expected exactly one"
		}
		return "fits none of the forms that are allowed"
	case *faultkind.FalseSchema:
		return "is not allowed here"
	}
	return e.ErrorKind.LocalizedString(english)
}

func article(name string) string {
	switch name {
	case "null":
		return name
	case "object", "array", "integer":
		return "an " + name
	}
	return "a " + name
}

func articles(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = article(name)
	}
	return all
}

func shortened(names []string) []string {
	all := make([]string, 0, len(names))
	for i, name := range names {
		if i == mostFaults {
			return append(all, "…")
		}
		all = append(all, short(name))
	}
	return all
}

// values writes values of a schema.
func values(list []any) string {
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > mostText/2 {
			return b.String() + "…"
		}
		b.WriteString(short(fmt.Sprint(v)))
	}
	return b.String()
}
