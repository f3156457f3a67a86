// Package value is the data of scripts: what expressions read, and what steps, memory and the journal keep.
//
// Everything is a [Value], never converted: None, bool, int, float and string are Starlark's own. Lists are frozen
// Starlark lists ([NewList]). Objects are a [Record]: ordered, immutable, with fields as the only attributes. A [Lazy]
// object computes its fields on demand, [Missing] stands for the output of a step that did not run, and [Time] is a
// time. [Data] turns any result of a script into such data, exactly as DecodeJSON(AppendJSON(v)) would: a value kept in
// memory and one read back from the journal are the same.
package value

import "go.starlark.net/starlark"

// Value is a Starlark value: the only representation of data in expressions, outputs and memory.
type Value = starlark.Value
