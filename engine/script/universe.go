package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	starlarkmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// universe is what every script knows: Starlark's own names, with each built-in that goes over a sequence or makes
// something large replaced by one that is charged for it. predeclared is what Throng adds.
var universe, predeclared = builtins()

type args = starlark.Tuple

type kwargs = []starlark.Tuple

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

func iterable(name string, v Value) (starlark.Iterable, error) {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("%s: for parameter 1: got %s, want iterable", name, v.Type())
	}
	return seq, nil
}

// collect returns the elements of a sequence, with room for what size says each of them takes.
func (m *machine) collect(seq starlark.Iterable, size int) ([]Value, error) {
	n := max(starlark.Len(seq), 0)
	if err := m.chargeMany(n, size); err != nil {
		return nil, err
	}
	if err := m.charge(listSize); err != nil {
		return nil, err
	}
	out := make([]Value, 0, n)
	err := m.each(seq, func(v Value) error {
		if len(out) >= n {
			if err := m.charge(2 * size); err != nil {
				return err
			}
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

func all(m *machine, a args, kw kwargs) (Value, error)   { return m.until("all", false, a, kw) }
func anyOf(m *machine, a args, kw kwargs) (Value, error) { return m.until("any", true, a, kw) }

var errFound = errors.New("found")

// until returns want if one of the elements has this truth, else the opposite.
func (m *machine) until(name string, want starlark.Bool, a args, kw kwargs) (Value, error) {
	seq, err := sequence(name, a, kw)
	if err != nil {
		return nil, err
	}
	err = m.each(seq, func(v Value) error {
		if v.Truth() == want {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return want, nil
	}
	return !want, err
}

func toList(m *machine, a args, kw kwargs) (Value, error) {
	if len(a)+len(kw) == 0 {
		return starlark.NewList(nil), m.charge(listSize)
	}
	seq, err := sequence("list", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, wordSize)
	return starlark.NewList(elems), err
}

func toTuple(m *machine, a args, kw kwargs) (Value, error) {
	if len(a)+len(kw) == 0 {
		return starlark.Tuple(nil), nil
	}
	seq, err := sequence("tuple", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, wordSize)
	return starlark.Tuple(elems), err
}

func toSet(m *machine, a args, kw kwargs) (Value, error) {
	if err := m.charge(dictSize); err != nil {
		return nil, err
	}
	set := new(starlark.Set)
	if len(a)+len(kw) == 0 {
		return set, nil
	}
	seq, err := sequence("set", a, kw)
	if err != nil {
		return nil, err
	}
	return set, m.each(seq, func(v Value) error { return m.add(set, v) })
}

func toDict(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 1 {
		return nil, fmt.Errorf("dict: got %d arguments, want at most 1", len(a))
	}
	if err := m.charge(dictSize); err != nil {
		return nil, err
	}
	d := new(starlark.Dict)
	return d, m.updateDict("dict", d, a, kw)
}

// updateDict is dict and dict.update: the items of a mapping or pairs, then named arguments.
func (m *machine) updateDict(name string, d *starlark.Dict, a args, kw kwargs) error {
	if len(a) > 1 {
		return fmt.Errorf("%s: got %d arguments, want at most 1", name, len(a))
	}
	if len(a) == 1 {
		if err := m.updateItems(name, d, a[0]); err != nil {
			return err
		}
	}
	for i, pair := range kw {
		if slices.ContainsFunc(kw[:i], func(p starlark.Tuple) bool { return p[0] == pair[0] }) {
			return fmt.Errorf("%s: duplicate keyword arg: %v", name, pair[0])
		}
		if err := m.step(1 + i/alikePerOne); err != nil {
			return err
		}
		if err := m.insert(d, pair[0], pair[1]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (m *machine) updateItems(name string, d *starlark.Dict, from Value) error {
	if table, ok := from.(starlark.IterableMapping); ok {
		if table == Value(d) {
			return nil
		}
		return m.each(table, func(k Value) error {
			v, _, err := table.Get(k)
			if err == nil {
				err = m.insert(d, k, v)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	seq, ok := from.(starlark.Iterable)
	if !ok {
		return fmt.Errorf("%s: got %s, want iterable", name, from.Type())
	}
	i := -1
	return m.each(seq, func(v Value) error {
		i++
		n := starlark.Len(v)
		if _, ok := v.(starlark.Iterable); !ok {
			return fmt.Errorf("%s: dictionary update sequence element #%d is not iterable (%s)", name, i, v.Type())
		}
		if n != 2 {
			return fmt.Errorf("%s: dictionary update sequence element #%d has length %d, want 2", name, i, n)
		}
		pair, err := spread(v, 2)
		if err == nil {
			err = m.insert(d, pair[0], pair[1])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

func toBytes(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) == 1 {
		if err := m.charge(3 * max(starlark.Len(a[0]), 0)); err != nil {
			return nil, err
		}
	}
	return library("bytes", a, kw)
}

func enumerate(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 0 {
		n := max(starlark.Len(a[0]), 0)
		if seq, ok := a[0].(starlark.Iterable); ok && starlark.Len(seq) < 0 {
			if err := m.each(seq, func(Value) error { n++; return nil }); err != nil {
				return nil, err
			}
		}
		if err := m.chargeMany(n, 8*wordSize); err != nil {
			return nil, err
		}
	}
	return library("enumerate", a, kw)
}

func zip(m *machine, a args, kw kwargs) (Value, error) {
	if len(kw) > 0 {
		return nil, errors.New("zip does not accept keyword arguments")
	}
	columns := make([][]Value, len(a))
	rows := 0
	for i, v := range a {
		seq, ok := v.(starlark.Iterable)
		if !ok {
			return nil, fmt.Errorf("zip: argument #%d is not iterable: %s", i+1, v.Type())
		}
		elems, err := m.collect(seq, 3*wordSize)
		if err != nil {
			return nil, err
		}
		columns[i] = elems
		if i == 0 || len(elems) < rows {
			rows = len(elems)
		}
	}
	if err := m.chargeMany(rows, listSize); err != nil {
		return nil, err
	}
	out := make([]Value, rows)
	for r := range out {
		row := make(starlark.Tuple, len(columns))
		for c := range columns {
			row[c] = columns[c][r]
		}
		out[r] = row
	}
	return starlark.NewList(out), nil
}

func reversed(m *machine, a args, kw kwargs) (Value, error) {
	seq, err := sequence("reversed", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, wordSize)
	slices.Reverse(elems)
	return starlark.NewList(elems), err
}

func sorted(m *machine, a args, kw kwargs) (Value, error) {
	var seq starlark.Iterable
	var key starlark.Callable
	var reverse bool
	if err := starlark.UnpackArgs("sorted", a, kw, "iterable", &seq, "key?", &key, "reverse?", &reverse); err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, 3*wordSize)
	if err != nil {
		return nil, err
	}
	type item struct{ key, value Value }
	items := make([]item, len(elems))
	for i, v := range elems {
		items[i] = item{v, v}
		if key != nil {
			if items[i].key, err = m.call(key, v); err != nil {
				return nil, err
			}
		}
	}
	sort.SliceStable(items, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		var less bool
		if err == nil {
			err = m.step(1)
		}
		if err == nil {
			less, err = m.less(items[i].key, items[j].key)
		}
		return less
	})
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		elems[i] = it.value
	}
	return starlark.NewList(elems), nil
}

func biggest(m *machine, a args, kw kwargs) (Value, error)  { return m.extreme("max", a, kw) }
func smallest(m *machine, a args, kw kwargs) (Value, error) { return m.extreme("min", a, kw) }

func (m *machine) extreme(name string, a args, kw kwargs) (Value, error) {
	var key starlark.Callable
	if len(a) == 0 {
		return nil, fmt.Errorf("%s requires at least one positional argument", name)
	}
	if len(kw) > 0 {
		if err := starlark.UnpackArgs(name, nil, kw, "key?", &key); err != nil {
			return nil, err
		}
	}
	seq := starlark.Iterable(a)
	if len(a) == 1 {
		var ok bool
		if seq, ok = a[0].(starlark.Iterable); !ok {
			return nil, fmt.Errorf("%s: %s value is not iterable", name, a[0].Type())
		}
	}
	var best, bestKey Value
	err := m.each(seq, func(v Value) error {
		k := v
		var err error
		if key != nil {
			if k, err = m.call(key, v); err != nil {
				return err
			}
		}
		better := best == nil
		if !better && name == "max" {
			better, err = m.less(bestKey, k)
		} else if !better {
			better, err = m.less(k, bestKey)
		}
		if better {
			best, bestKey = v, k
		}
		return err
	})
	if err == nil && best == nil {
		err = fmt.Errorf("%s: argument is an empty sequence", name)
	}
	return best, err
}

func toRange(_ *machine, a args, kw kwargs) (Value, error) {
	v, err := library("range", a, kw)
	if err == nil && starlark.Len(v) < 0 {
		err = errors.New("range: too many numbers")
	}
	return v, err
}

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
	return library("int", a, kw)
}

func hash(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 0 {
		if err := m.key(a[0]); err != nil {
			return nil, err
		}
	}
	return library("hash", a, kw)
}

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

func printValues(m *machine, a args, kw kwargs) (Value, error) {
	m.printed = true
	text, err := m.joined("print", a, kw)
	if err == nil && m.print != nil {
		m.print(text)
	}
	return starlark.None, err
}

func fail(m *machine, a args, kw kwargs) (Value, error) {
	text, err := m.joined("fail", a, kw)
	if err != nil {
		return nil, err
	}
	return nil, errors.New("fail: " + text)
}

func jsonEncode(m *machine, a args, kw kwargs) (Value, error) {
	v, err := one("json.encode", a, kw)
	if err != nil {
		return nil, err
	}
	e := encoder{out: m.text[:0], limit: m.left(), m: m}
	err = e.value(v, 0)
	m.text = e.out[:0]
	if err == nil {
		err = m.charge(len(e.out))
	}
	return starlark.String(e.out), err
}

func jsonDecode(m *machine, a args, kw kwargs) (Value, error) {
	var text string
	var fallback Value
	if err := starlark.UnpackArgs("json.decode", a, kw, "x", &text, "default?", &fallback); err != nil {
		return nil, err
	}
	if err := m.work(4 * len(text)); err != nil {
		return nil, err
	}
	if err := m.charge(len(text)); err != nil {
		return nil, err
	}
	limit := m.left() / 3
	v, err := decodeJSON([]byte(text), limit)
	if err != nil {
		if fallback != nil && !errors.Is(err, ErrTooBig) {
			return fallback, nil
		}
		return nil, err
	}
	return v, m.charge(3 * weigh(v))
}

// weigh returns about what decoded JSON weighs.
func weigh(v Value) int {
	switch v := v.(type) {
	case starlark.String:
		return valueWeight + len(v)
	case *Record:
		return valueWeight + int(v.weight)
	case *starlark.List:
		n := valueWeight
		for x := range v.Elements() {
			n += weigh(x)
		}
		return n
	}
	return valueWeight
}

// get is get(x, key, default=None): what x has under key, or the default if it has nothing there or only Missing. x may
// be Missing or None itself.
func get(m *machine, a args, kw kwargs) (Value, error) {
	var x, key Value
	var fallback Value = starlark.None
	if len(kw) == 0 && (len(a) == 2 || len(a) == 3) {
		x, key = a[0], a[1]
		if len(a) == 3 {
			fallback = a[2]
		}
	} else if err := starlark.UnpackArgs("get", a, kw, "x", &x, "key", &key, "default?", &fallback); err != nil {
		return nil, err
	}
	var v Value
	switch x := x.(type) {
	case missing, starlark.NoneType:
	case *Record:
		if name, ok := starlark.AsString(key); ok {
			v, _ = x.Field(name)
		}
	case starlark.Mapping:
		if err := m.find(key, starlark.Len(x)); err != nil {
			return nil, err
		}
		found, ok, err := x.Get(key)
		if err != nil {
			return nil, err
		}
		if ok {
			v = found
		}
	case starlark.Indexable:
		if i, err := starlark.AsInt32(key); err == nil {
			if i < 0 {
				i += x.Len()
			}
			if 0 <= i && i < x.Len() {
				v = x.Index(i)
			}
		}
	case starlark.HasAttrs:
		if name, ok := starlark.AsString(key); ok && slices.Contains(x.AttrNames(), name) {
			return x.Attr(name)
		}
	default:
		return nil, fmt.Errorf("get: %s has no fields", x.Type())
	}
	if v == nil || v == Missing {
		return fallback, nil
	}
	return v, nil
}

// keys is the list of the names of an object, or of the keys of a dict.
func keys(m *machine, a args, kw kwargs) (Value, error) {
	v, err := one("keys", a, kw)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case missing:
		return emptyList, nil
	case starlark.IterableMapping:
		elems, err := m.collect(v, wordSize)
		return starlark.NewList(elems), err
	case moment:
		return toList(m, args{starlark.NewList(texts(momentFields))}, nil)
	}
	return nil, fmt.Errorf("keys: %s has no fields", v.Type())
}

func texts(list []string) []Value {
	out := make([]Value, len(list))
	for i, s := range list {
		out[i] = starlark.String(s)
	}
	return out
}

// round is round(x): the nearest int, half away from zero; or round(x, n): a float with n decimals.
func round(_ *machine, a args, kw kwargs) (Value, error) {
	var x Value
	var digits Value = starlark.None
	if len(kw) == 0 && len(a) == 1 {
		x = a[0]
	} else if len(kw) == 0 && len(a) == 2 {
		x, digits = a[0], a[1]
	} else if err := starlark.UnpackArgs("round", a, kw, "x", &x, "n?", &digits); err != nil {
		return nil, err
	}
	f, ok := starlark.AsFloat(x)
	if !ok {
		return nil, fmt.Errorf("round: got %s, want a number", x.Type())
	}
	if digits == starlark.None {
		if i, ok := x.(starlark.Int); ok {
			return i, nil
		}
		if err := checkFloat(f); err != nil {
			return nil, err
		}
		return starlark.NumberToInt(starlark.Float(math.Round(f)))
	}
	n, err := starlark.AsInt32(digits)
	if err != nil {
		return nil, fmt.Errorf("round: n: %w", err)
	}
	return starlark.Float(roundTo(f, n)), nil
}

// roundTo rounds the decimal that f is written as, half away from zero: 2.675 becomes 2.68, although the float is a
// little less than that.
func roundTo(f float64, n int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || n > 20 {
		return f
	}
	if n < 0 {
		p := math.Pow10(-n)
		return math.Round(f/p) * p
	}
	var buf [40]byte
	text := strconv.AppendFloat(buf[:0], f, 'f', -1, 64)
	point := slices.Index(text, '.')
	if point < 0 || len(text)-point-1 <= n {
		return f
	}
	up := text[point+1+n] >= '5'
	text = text[:point+1+n]
	for i := len(text) - 1; up && i >= 0; i-- {
		switch c := text[i]; {
		case c == '9':
			text[i] = '0'
		case '0' <= c && c < '9':
			text[i]++
			up = false
		}
	}
	g, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return f
	}
	if up { // 9.96 to 10.0: all digits were nines, and are zeros now
		g = math.Copysign(math.Pow10(len(text[:point])-signs(text)), f)
	}
	return g
}

func signs(text []byte) int {
	if text[0] == '-' {
		return 1
	}
	return 0
}
