package script

import (
	"errors"
	"fmt"

	starlarkmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// universe is what every script knows: Starlark's own names, with each built-in that goes over a sequence or makes
// something large replaced by one that is charged for it. predeclared is what Throng adds.
var universe, predeclared = builtins()

type args = starlark.Tuple

type kwargs = []starlark.Tuple

// builtins is the table of all built-ins: to add one is a line here.
func builtins() (universe, added map[string]Value) {
	universe = make(map[string]Value)
	for _, name := range []string{"None", "True", "False"} {
		universe[name] = starlark.Universe[name]
	}
	for _, name := range []string{"abs", "bool", "chr", "dir", "float", "getattr", "hasattr", "len", "ord", "type"} {
		universe[name] = starlark.Universe[name] // take a moment, make little
	}
	for name, fn := range map[string]func(*machine, args, kwargs) (Value, error){
		"all": all, "any": anyOf, "bytes": toBytes, "dict": toDict, "enumerate": enumerate, "fail": fail,
		"hash": hash, "int": toInt, "list": toList, "max": biggest, "min": smallest, "print": printValues,
		"range": toRange, "repr": repr, "reversed": reversed, "set": toSet, "sorted": sorted, "str": str,
		"tuple": toTuple, "zip": zip,
	} {
		universe[name] = &native{name, fn}
	}
	added = map[string]Value{
		"json": module("json", map[string]func(*machine, args, kwargs) (Value, error){
			"encode": jsonEncode, "decode": jsonDecode,
		}),
		"math": starlarkmath.Module,
	}
	for name, fn := range map[string]func(*machine, args, kwargs) (Value, error){
		"round": round, "get": get, "keys": keys,
		"chance": chance, "uniform": uniform, "normal": normal, "lognormal": lognormal, "pick": pick,
		"weighted": weighted, "sample": sample, "shuffle": shuffle,
	} {
		added[name] = &native{name, fn}
	}
	return universe, added
}

// module groups functions under a name.
func module(name string, fns map[string]func(*machine, args, kwargs) (Value, error)) Value {
	members := make(starlark.StringDict, len(fns))
	for n, fn := range fns {
		members[n] = &native{name + "." + n, fn}
	}
	return &starlarkstruct.Module{Name: name, Members: members}
}

// library calls one of Starlark's own built-ins.
func library(name string, a args, kw kwargs) (Value, error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(nil, a, kw)
}

// one returns the only argument of a built-in.
func one(name string, a args, kw kwargs) (Value, error) {
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

// iterable returns v if it has elements, or the error that the built-in gives.
func iterable(name string, v Value) (starlark.Iterable, error) {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("%s: for parameter 1: got %s, want iterable", name, v.Type())
	}
	return seq, nil
}

// toRange is range(from, to, step). It takes no memory however long it is: who goes over it is charged.
func toRange(_ *machine, a args, kw kwargs) (Value, error) {
	v, err := library("range", a, kw)
	if err == nil && starlark.Len(v) < 0 {
		err = errors.New("range: too many numbers")
	}
	return v, err
}

// toInt is int(x, base). Reading n digits takes time by their square.
func toInt(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 0 {
		if s, ok := starlark.AsString(a[0]); ok {
			if len(s) > maxDigits {
				return nil, tooBig("int: a number of %d digits", len(s))
			}
			if err := m.work(len(s) * len(s) / 8); err != nil {
				return nil, err
			}
		}
	}
	v, err := library("int", a, kw)
	if err == nil {
		err = m.chargeMade(v)
	}
	return v, err
}

// hash is hash(x), the same on all machines.
func hash(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 0 {
		if err := m.key(a[0]); err != nil {
			return nil, err
		}
	}
	return library("hash", a, kw)
}

// str is str(x).
func str(m *machine, a args, kw kwargs) (Value, error) {
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

// repr is repr(x).
func repr(m *machine, a args, kw kwargs) (Value, error) {
	v, err := one("repr", a, kw)
	if err != nil {
		return nil, err
	}
	text, err := m.show(v, true)
	return starlark.String(text), err
}

// joined is how print and fail put their arguments together.
func (m *machine) joined(name string, a args, kw kwargs) (string, error) {
	sep := " "
	if err := starlark.UnpackArgs(name, nil, kw, "sep?", &sep); err != nil {
		return "", err
	}
	var out []byte
	for i, v := range a {
		text, err := m.show(v, false)
		if err == nil {
			err = m.charge(len(text) + len(sep))
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

// printValues is print(…), for whom the environment has a callback.
func printValues(m *machine, a args, kw kwargs) (Value, error) {
	m.printed = true
	text, err := m.joined("print", a, kw)
	if err == nil && m.print != nil {
		m.print(text)
	}
	return starlark.None, err
}

// fail is fail(…): an error in the script's own words.
func fail(m *machine, a args, kw kwargs) (Value, error) {
	text, err := m.joined("fail", a, kw)
	if err != nil {
		return nil, err
	}
	return nil, errors.New("fail: " + text)
}
