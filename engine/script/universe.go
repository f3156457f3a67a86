package script

import (
	"errors"
	"fmt"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	starlarkmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// universe holds the names known to every script: Starlark's own, with each built-in that iterates or builds large
// values replaced by a charged version. predeclared holds Throng's additions.
var universe, predeclared = builtins()

type args = starlark.Tuple

type kwargs = []starlark.Tuple

// builtins is the table of all built-ins: add one with one line here.
func builtins() (universe, added map[string]value.Value) {
	universe = make(map[string]value.Value)
	for _, name := range []string{"None", "True", "False"} {
		universe[name] = starlark.Universe[name]
	}
	for _, name := range []string{"abs", "bool", "chr", "dir", "float", "getattr", "hasattr", "len", "ord", "type"} {
		universe[name] = starlark.Universe[name] // cheap, with small results
	}
	for name, fn := range map[string]func(*machine, args, kwargs) (value.Value, error){
		"all": all, "any": anyOf, "bytes": toBytes, "dict": toDict, "enumerate": enumerate, "fail": fail,
		"hash": hash, "int": toInt, "list": toList, "max": biggest, "min": smallest, "print": printValues,
		"range": toRange, "repr": repr, "reversed": reversed, "set": toSet, "sorted": sorted, "str": str,
		"tuple": toTuple, "zip": zip,
	} {
		universe[name] = &native{name, fn}
	}
	added = map[string]value.Value{
		"json": module("json", map[string]func(*machine, args, kwargs) (value.Value, error){
			"encode": jsonEncode, "decode": jsonDecode,
		}),
		"math": starlarkmath.Module,
	}
	for name, fn := range map[string]func(*machine, args, kwargs) (value.Value, error){
		"round": round, "get": get, "keys": keys,
		"chance": chance, "uniform": uniform, "normal": normal, "lognormal": lognormal, "pick": pick,
		"weighted": weighted, "sample": sample, "shuffle": shuffle, "uuid": drawUUID,
		"extract": extractFirst, "form_field": formField, "unresolved": unresolved,
	} {
		added[name] = &native{name, fn}
	}
	return universe, added
}

// module groups functions under a name.
func module(name string, fns map[string]func(*machine, args, kwargs) (value.Value, error)) value.Value {
	members := make(starlark.StringDict, len(fns))
	for n, fn := range fns {
		members[n] = &native{name + "." + n, fn}
	}
	return &starlarkstruct.Module{Name: name, Members: members}
}

// library calls one of Starlark's own built-ins.
func library(name string, a args, kw kwargs) (value.Value, error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(nil, a, kw)
}

// one returns the only argument of a built-in.
func one(name string, a args, kw kwargs) (value.Value, error) {
	if len(kw) > 0 {
		return nil, fmt.Errorf("%s: unexpected keyword arguments", name)
	}
	if len(a) != 1 {
		return nil, fmt.Errorf("%s: got %d arguments, want 1", name, len(a))
	}
	return a[0], nil
}

// sequence returns the only argument of a built-in, which must be iterable.
func sequence(name string, a args, kw kwargs) (starlark.Iterable, error) {
	v, err := one(name, a, kw)
	if err != nil {
		return nil, err
	}
	return iterable(name, v)
}

// iterable returns v if it has elements, or the built-in's error.
func iterable(name string, v value.Value) (starlark.Iterable, error) {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("%s: for parameter 1: got %s, want iterable", name, v.Type())
	}
	return seq, nil
}

// toRange implements range(from, to, step). It allocates no elements; only iteration is charged.
func toRange(_ *machine, a args, kw kwargs) (value.Value, error) {
	v, err := library("range", a, kw)
	if err == nil && starlark.Len(v) < 0 {
		err = errors.New("range: too many numbers")
	}
	return v, err
}

// toInt implements int(x, base). Reading n digits takes quadratic time.
func toInt(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a) == 1 && len(kw) == 0 {
		if f, ok := a[0].(starlark.Float); ok {
			if i, err := starlark.NumberToInt(f); err == nil {
				return i, m.ChargeResult(i)
			}
		}
	}
	if len(a) > 0 {
		if s, ok := starlark.AsString(a[0]); ok {
			if len(s) > value.MaxDigits {
				return nil, meter.TooBig("int: a number of %d digits", len(s))
			}
			if err := m.Work(len(s) * len(s) / 8); err != nil {
				return nil, err
			}
		}
	}
	v, err := library("int", a, kw)
	if err == nil {
		err = m.ChargeResult(v)
	}
	return v, err
}

// hash implements hash(x), the same on all machines.
func hash(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a) > 0 {
		if err := m.ChargeHash(a[0]); err != nil {
			return nil, err
		}
	}
	return library("hash", a, kw)
}

// str implements str(x).
func str(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("str", a, kw)
	if err != nil {
		return nil, err
	}
	if s, ok := v.(starlark.String); ok {
		return s, nil
	}
	text, err := m.show(v, false)
	return starlark.String(text), err
}

// repr implements repr(x).
func repr(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("repr", a, kw)
	if err != nil {
		return nil, err
	}
	text, err := m.show(v, true)
	return starlark.String(text), err
}

// joined formats the arguments of print and fail.
func (m *machine) joined(name string, a args, kw kwargs) (string, error) {
	sep := " "
	if err := starlark.UnpackArgs(name, nil, kw, "sep?", &sep); err != nil {
		return "", err
	}
	var out []byte
	for i, v := range a {
		text, err := m.show(v, false)
		if err == nil {
			err = m.Charge(len(text) + len(sep))
		}
		if err != nil {
			return "", err
		}
		if i > 0 {
			out = append(out, sep...)
		}
		out = append(out, text...)
	}
	return string(out), nil
}

// printValues implements print(…) with the environment's callback.
func printValues(m *machine, a args, kw kwargs) (value.Value, error) {
	m.printed = true
	text, err := m.joined("print", a, kw)
	if err == nil && m.print != nil {
		m.print(text)
	}
	return starlark.None, err
}

// fail implements fail(…): an error with the script's own message.
func fail(m *machine, a args, kw kwargs) (value.Value, error) {
	text, err := m.joined("fail", a, kw)
	if err != nil {
		return nil, err
	}
	return nil, errors.New("fail: " + text)
}
