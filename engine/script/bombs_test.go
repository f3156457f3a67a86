package script

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

// bombs try to take down the process. Each must fail alone, quickly and without much memory.
var bombs = []struct {
	name, body string
	want       error // nil: any error, or even success, if it is cheap
}{
	{"endless loop", "for i in range(1 << 60):\n  pass", ErrTooLong},
	{"nested loops", "for i in range(1 << 30):\n  for j in range(1 << 30):\n    x = i + j", ErrTooLong},
	{"comprehension", "return [0 for i in range(1 << 40)]", ErrTooBig},
	{"filtered comprehension", "return [0 for i in range(1 << 40) if i < 0]", ErrTooLong},
	{"dict comprehension", "return {i: i for i in range(1 << 40)}", ErrTooLong},
	{"growing list", "x = []\nfor i in range(1 << 40):\n  x.append(i)", nil},
	{"growing dicts", "x = []\nfor i in range(1 << 40):\n  x.append({})", ErrTooBig},
	{"growing closures", "x = []\nfor i in range(1 << 40):\n  x.append(lambda: i)", ErrTooBig},
	{"list of range", "return list(range(1 << 40))", ErrTooBig},
	{"tuple of range", "return tuple(range(1 << 40))", ErrTooBig},
	{"set of range", "return set(range(1 << 40))", ErrTooLong},
	{"sorted range", "return sorted(range(1 << 40))", ErrTooBig},
	{"reversed range", "return reversed(range(1 << 40))", ErrTooBig},
	{"enumerate range", "return enumerate(range(1 << 40))", ErrTooBig},
	{"zip range", "return zip(range(1 << 40), range(1 << 40))", ErrTooBig},
	{"bytes of range", "return bytes(range(1 << 40))", nil},
	{"max of range", "return max(range(1 << 40))", ErrTooLong},
	{"max with key", "return max(range(1 << 40), key = lambda x: x)", ErrTooLong},
	{"any of range", "return any(range(0, 1)) or all(range(1, 1 << 40))", ErrTooLong},
	{"dict of range", "return dict(zip(range(1 << 20), range(1 << 20)))", ErrTooBig},
	{"arguments of range", "return max(*range(1 << 40))", ErrTooBig},
	{"extend by range", "x = []\nx.extend(range(1 << 40))", ErrTooBig},
	{"+= range", "x = []\nx += range(1 << 40)", ErrTooBig},
	{"update by range", "x = set()\nx.update(range(1 << 40))", ErrTooLong},
	{"in a list", "x = list(range(100000))\nfor i in range(1 << 40):\n  -1 in x", ErrTooLong},
	{"index of a list", "x = list(range(100000)) + [-1]\nfor i in range(1 << 40):\n  x.index(-1)", ErrTooLong},
	{"string doubling", "s = 'a'\nfor i in range(100):\n  s = s + s", ErrTooBig},
	{"string doubling in place", "s = 'a'\nfor i in range(100):\n  s += s", ErrTooBig},
	{"list doubling", "s = [1]\nfor i in range(100):\n  s = s + s", ErrTooBig},
	{"list doubling in place", "s = [1]\nfor i in range(100):\n  s += s", ErrTooBig},
	{"list extending itself", "s = [1]\nfor i in range(100):\n  s.extend(s)", ErrTooBig},
	{"tuple doubling", "s = (1,)\nfor i in range(100):\n  s += s", ErrTooBig},
	{"string repetition", "return 'a' * (1 << 29)", ErrTooBig},
	{"repetition of a repetition", "return ('a' * 10000) * 100000", ErrTooBig},
	{"int times string", "return (1 << 40) * 'a'", ErrTooBig},
	{"list repetition", "return [0] * (1 << 29)", ErrTooBig},
	{"list repetition in place", "x = [0] * 100\nx *= 10000000", ErrTooBig},
	{"tuple repetition", "return (0,) * (1 << 29)", ErrTooBig},
	{"bytes repetition", "return b'a' * (1 << 29)", ErrTooBig},
	{"join", "return ('x' * 1000).join(['y' * 10] * 1000000)", ErrTooBig},
	{"replace", "s = 'a' * 100000\nreturn s.replace('a', s)", ErrTooBig},
	{"replace nothing", "s = 'a' * 100000\nreturn s.replace('', s)", ErrTooBig},
	{"split", "s = 'a,' * 5000000\nreturn s.split(',')", ErrTooBig},
	{"split with room", "return 'a b'.rsplit(None, 1 << 30)", nil},
	{"splitlines", "s = '\\n' * 5000000\nreturn s.splitlines()", ErrTooBig},
	{"elements of a string", "s = 'a' * 5000000\nreturn list(s.elems())", ErrTooBig},
	{"letters of a string", "s = 'a' * 5000000\nreturn list(s.codepoints())", ErrTooBig},
	{"strip", "s = 'ä' * 1000000\nfor i in range(1 << 40):\n  s.strip(s)", ErrTooLong},
	{"count", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  s.count('ab')", ErrTooLong},
	{"find", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  s.find('b')", ErrTooLong},
	{"substring", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  'b' in s", ErrTooLong},
	{"equal strings", "s = 'a' * 5000000\nt = 'a' * 5000000\nfor i in range(1 << 40):\n  s == t", ErrTooLong},
	{"upper", "s = 'a' * 1000000\nfor i in range(1 << 40):\n  s.upper()", ErrTooBig},
	{"format", "s = 'a' * 10000\nreturn ('{0}' * 10000).format(s)", ErrTooBig},
	{"format a list", "s = ['a' * 10000]\nreturn ('{0}' * 10000).format(s)", ErrTooBig},
	{"percent", "s = 'a' * 10000\nreturn ('%(a)s' * 100000) % {'a': s}", ErrTooBig},
	{"percent quoted", "s = '\\0' * 10000000\nreturn '%r' % s", ErrTooBig},
	{"percent a tuple", "s = ('a' * 10000,) * 10000\nreturn ('%s' * 10000) % s", ErrTooBig},
	{"percent a list", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn '%s' % [x]", ErrTooLong},
	{"shift", "return 1 << (10 * 1000 * 1000 * 1000)", nil},
	{"shifts", "x = 1\nfor i in range(1 << 40):\n  x = x << 500", ErrTooBig},
	{"squares", "x = 3\nfor i in range(1 << 40):\n  x = x * x", ErrTooBig},
	{"squares in place", "x = 3\nfor i in range(1 << 40):\n  x *= x", ErrTooBig},
	{"multiplying", "x = 1 << 500\nfor i in range(6):\n  x = x * x\nfor i in range(1 << 40):\n  x * x * 3 // x", nil},
	{"dividing", "x = 1 << 500\nfor i in range(5):\n  x = x * x\ny = x * x - 1\nfor i in range(1 << 40):\n  y % x", ErrTooLong},
	{"int of a text", "return int('9' * 10000000)", ErrTooBig},
	{"text of an int", "x = 3\nfor i in range(15):\n  x = x * x\nfor i in range(1 << 40):\n  str(x)", ErrTooLong},
	{"string of shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn str(x)", ErrTooLong},
	{"shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn x", ErrTooLong},
	{"shared dicts", "x = {}\nfor i in range(60):\n  x = {'a': x, 'b': x}\nreturn x", ErrTooLong},
	{"json of shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn json.encode(x)", ErrTooLong},
	{"equal shared lists", "x = 1\ny = 1\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\nreturn x == y", ErrTooLong},
	{"equal wide lists", "x = 1\ny = 1\nfor i in range(9):\n  x = [x] * 100\n  y = [y] * 100\nreturn x == y", ErrTooLong},
	{"equal shared dicts", "x = 1\ny = 1\nfor i in range(60):\n  x = {1: x, 2: x}\n  y = {1: y, 2: y}\nreturn x == y", ErrTooLong},
	{"sorting shared lists", "x = 1\nfor i in range(60):\n  x = [x, x]\nreturn sorted([x, x])", ErrTooLong},
	{"shared lists in a list", "x = 1\ny = 1\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\nreturn [x].index(y)", ErrTooLong},
	{"removing shared lists", "x = 1\ny = 1\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\n[x].remove(y)", ErrTooLong},
	{"hash of shared tuples", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {x: 1}", ErrTooLong},
	{"set of shared tuples", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn set([x])", ErrTooLong},
	{"shared tuples in a dict", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {}.get(x)", ErrTooLong},
	{"shared tuples as an index", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {}[x]", ErrTooLong},
	{"shared tuples in an update", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn dict([(x, 1)])", ErrTooLong},
	{"shared tuples in a union", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn set().union([x])", ErrTooLong},
	{"deep list", "x = []\nfor i in range(1 << 40):\n  x = [x]", ErrTooBig},
	{"string of a deep list", "x = []\nfor i in range(300000):\n  x = [x]\nreturn str(x)", ErrTooBig},
	{"json of a deep list", "x = []\nfor i in range(300000):\n  x = [x]\nreturn json.encode(x)", ErrTooBig},
	{"result of a deep list", "x = []\nfor i in range(300000):\n  x = [x]\nreturn x", ErrTooBig},
	{"equal deep lists", "x = []\ny = []\nfor i in range(100000):\n  x = [x]\n  y = [y]\nreturn x == y", nil},
	{"hash of a deep tuple", "x = ()\nfor i in range(300000):\n  x = (x,)\nreturn {x: 1}", ErrTooBig},
	{"list in itself", "x = []\nx.append(x)\nreturn x", ErrTooBig},
	{"json of a list in itself", "x = []\nx.append(x)\nreturn json.encode(x)", ErrTooBig},
	{"dict in itself", "x = {}\nx['x'] = x\nreturn json.encode(x)", ErrTooBig},
	{"equal lists in themselves", "x = []\nx.append(x)\nx.append(x)\ny = [1, 2]\ny[0] = y\ny[1] = y\nreturn x == y", nil},
	{"deep JSON", "return json.decode('[' * 1000000 + ']' * 1000000)", ErrTooBig},
	{"wide JSON", "return json.decode('[' + '[1],' * 2000000 + '0]')", ErrTooBig},
	{"JSON again and again", "s = json.encode(list(range(10000)))\nfor i in range(1 << 40):\n  json.decode(s)", ErrTooBig},
	{"long number", "return json.decode('1' * 1000000)", ErrTooBig},
	{"recursion", "f = lambda f, n: f(f, n + 1)\nreturn f(f, 0)", nil},
	{"colliding keys", "x = {}\nfor i in range(1 << 40):\n  x[i << 32] = 1", ErrTooLong},
	{"slices", "x = list(range(100000))\ny = []\nfor i in range(1 << 40):\n  y.append(x[1:])", ErrTooBig},
	{"backward slices", "x = 'a' * 1000000\ny = []\nfor i in range(1 << 40):\n  y.append(x[::-1])", ErrTooBig},
	{"insert", "x = list(range(100000))\nfor i in range(1 << 40):\n  x.insert(0, 1)\n  x.pop(0)", nil},
	{"unions", "x = set(range(1000))\ny = []\nfor i in range(1 << 40):\n  y.append(x | x)", ErrTooLong},
	{"dict unions", "x = {i: i for i in range(1000)}\ny = []\nfor i in range(1 << 40):\n  y.append(x | x)", ErrTooLong},
	{"items", "x = {i: i for i in range(1000)}\ny = []\nfor i in range(1 << 40):\n  y.append(x.items())", ErrTooBig},
	{"printing", "x = 'a' * 1000000\nfor i in range(1 << 40):\n  print(x)", ErrTooBig},
	{"failing", "x = []\nfor i in range(60):\n  x = [x, x]\nfail(x)", ErrTooLong},
	{"missing key", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {1: 1}[str(x)]", ErrTooLong},
	{"shuffling", "return shuffle(range(1 << 40))", ErrTooBig},
	{"sampling", "return sample(range(1 << 40), 3)", ErrTooBig},
	{"keyword arguments", "f = lambda **kw: kw\nd = {str(i): i for i in range(10000)}\nx = []\nfor i in range(1 << 40):\n  x.append(f(**d))", ErrTooBig},
	{"weight of shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn weighted({'a': x})", nil},
	{"percent of long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nreturn ('%d' * 100000) % ((x,) * 100000)", ErrTooBig},
	{"percent of a long int by name", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nreturn ('%(a)d' * 100000) % {'a': x}", ErrTooBig},
	{"format a long int", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nreturn ('{0}' * 100000).format(x)", ErrTooBig},
	{"percent of large floats", "return ('%f' * 400000) % ((1e308,) * 400000)", ErrTooBig},
	{"prefixes", "s = 'a' * 10000000\nt = s[:-1] + 'b'\nreturn s.startswith((t,) * 100000)", ErrTooLong},
	{"suffixes", "s = 'a' * 10000000\nt = 'b' + s[1:]\nreturn s.endswith((t,) * 100000)", ErrTooLong},
	{"float of a text", "s = '0.' + '0' * 10000000 + '1'\nfor i in range(1 << 40):\n  float(s)", ErrTooLong},
	{"long names", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  hasattr(s, s)", ErrTooLong},
	{"long names of a record", "s = 'a' * 10000000\nx = json.decode('{\"a\": 1}')\nfor i in range(1 << 40):\n  s in x", ErrTooLong},
	{"equal bytes", "s = b'a' * 5000000\nt = b'a' * 5000000\nfor i in range(1 << 40):\n  s == t", ErrTooLong},
	{"negative long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\ny = []\nfor i in range(1 << 40):\n  y.append(-x)", ErrTooBig},
	{"inverted long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\ny = []\nfor i in range(1 << 40):\n  y.append(~x)", ErrTooBig},
	{"sizes of long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nx = -x\ny = []\nfor i in range(1 << 40):\n  y.append(abs(x))", ErrTooBig},
	{"ints of large floats", "y = []\nfor i in range(1 << 40):\n  y.append(int(1e308))", ErrTooBig},
	{"rounded large floats", "y = []\nfor i in range(1 << 40):\n  y.append(round(1e308))", ErrTooBig},
	{"floors of large floats", "y = []\nfor i in range(1 << 40):\n  y.append(math.floor(1e308))", ErrTooBig},
	{"lists of names", "y = []\nfor i in range(1 << 40):\n  y.append(dir(''))", ErrTooBig},
	{"failing at length", "fail('a' * 30000000)", nil},
}

func TestBombs(t *testing.T) {
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			src := "def bomb():\n  " + strings.ReplaceAll(bomb.body, "\n", "\n  ") + "\n"
			config := Config{Functions: &Source{"bomb.star", src}}
			if raceDetector { // ten times slower, so a tenth of the limits
				config.Limits = Limits{Steps: defaultSteps / 10, Bytes: defaultBytes / 10}
			}
			env, err := New(config)
			if err != nil {
				t.Fatal(err)
			}
			x, err := env.Expr("bomb() if now else 0", Scope{"now"})
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err = x.Eval(&Context{Names: Vars{"now": Time(start)}, Field: "bomb"})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if bomb.want != nil && !errors.Is(err, bomb.want) && !raceDetector {
				t.Errorf("got error %v, want %v", err, bomb.want)
			}
			// TotalAlloc counts everything allocated, so the result does not depend on when the collector ran.
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 256 {
				t.Errorf("allocated %d MB", mb)
			} else if err != nil && len(err.Error()) > 3*maxProblem {
				t.Errorf("an error of %d bytes", len(err.Error()))
			} else {
				t.Logf("%v, %d MB allocated, heap grew by %d MB: %v", took, mb, int64(after.HeapSys-before.HeapSys)>>20, err)
			}
		})
	}
}

// TestHeavyData checks that limits hold for the weight of data, for error messages about it and for its JSON text.
func TestHeavyData(t *testing.T) {
	zeros := starlark.String(strings.Repeat("\x00", 30_000_000))
	if _, err := AppendJSON(nil, zeros); !errors.Is(err, ErrTooBig) {
		t.Errorf("30 MB that take 180 as JSON: got %v, want ErrTooBig", err)
	}
	if text, err := AppendJSON(nil, zeros[:5_000_000]); err != nil || len(text) != 30_000_002 {
		t.Errorf("5 MB that take 30 as JSON: got %d bytes, %v", len(text), err)
	}
	broken := starlark.String(strings.Repeat("\xff", 12_000_000))
	if _, err := AppendJSON(nil, broken); !errors.Is(err, ErrTooBig) {
		t.Errorf("12 MB of invalid UTF-8: got %v, want ErrTooBig", err)
	}
	key := make(starlark.Tuple, 200_000)
	for i := range key {
		key[i] = zeros[:1000]
	}
	d := starlark.NewDict(1)
	if err := d.SetKey(key, starlark.None); err != nil {
		t.Fatal(err)
	}
	if _, err := Data(d); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a key of 200 MB: got an error of %d bytes", len(err.Error()))
	}
}
