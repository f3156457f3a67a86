package script

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// bombs try to take down the process. Each must fail alone, quickly and without much memory.
var bombs = []struct {
	name, body string
	want       error // nil: any error, or even success, if it is cheap
}{
	{"endless loop", "for i in range(1 << 60):\n  pass", meter.ErrTooLong},
	{"nested loops", "for i in range(1 << 30):\n  for j in range(1 << 30):\n    x = i + j", meter.ErrTooLong},
	{"comprehension", "return [0 for i in range(1 << 40)]", meter.ErrTooBig},
	{"filtered comprehension", "return [0 for i in range(1 << 40) if i < 0]", meter.ErrTooLong},
	{"dict comprehension", "return {i: i for i in range(1 << 40)}", meter.ErrTooLong},
	{"growing list", "x = []\nfor i in range(1 << 40):\n  x.append(i)", nil},
	{"growing dicts", "x = []\nfor i in range(1 << 40):\n  x.append({})", meter.ErrTooBig},
	{"growing closures", "x = []\nfor i in range(1 << 40):\n  x.append(lambda: i)", meter.ErrTooBig},
	{"list of range", "return list(range(1 << 40))", meter.ErrTooBig},
	{"tuple of range", "return tuple(range(1 << 40))", meter.ErrTooBig},
	{"set of range", "return set(range(1 << 40))", meter.ErrTooLong},
	{"sorted range", "return sorted(range(1 << 40))", meter.ErrTooBig},
	{"reversed range", "return reversed(range(1 << 40))", meter.ErrTooBig},
	{"enumerate range", "return enumerate(range(1 << 40))", meter.ErrTooBig},
	{"zip range", "return zip(range(1 << 40), range(1 << 40))", meter.ErrTooBig},
	{"bytes of range", "return bytes(range(1 << 40))", nil},
	{"max of range", "return max(range(1 << 40))", meter.ErrTooLong},
	{"max with key", "return max(range(1 << 40), key = lambda x: x)", meter.ErrTooLong},
	{"any of range", "return any(range(0, 1)) or all(range(1, 1 << 40))", meter.ErrTooLong},
	{"dict of range", "return dict(zip(range(1 << 20), range(1 << 20)))", meter.ErrTooBig},
	{"arguments of range", "return max(*range(1 << 40))", meter.ErrTooBig},
	{"extend by range", "x = []\nx.extend(range(1 << 40))", meter.ErrTooBig},
	{"+= range", "x = []\nx += range(1 << 40)", meter.ErrTooBig},
	{"update by range", "x = set()\nx.update(range(1 << 40))", meter.ErrTooLong},
	{"in a list", "x = list(range(100000))\nfor i in range(1 << 40):\n  -1 in x", meter.ErrTooLong},
	{"index of a list", "x = list(range(100000)) + [-1]\nfor i in range(1 << 40):\n  x.index(-1)", meter.ErrTooLong},
	{"string doubling", "s = 'a'\nfor i in range(100):\n  s = s + s", meter.ErrTooBig},
	{"string doubling in place", "s = 'a'\nfor i in range(100):\n  s += s", meter.ErrTooBig},
	{"list doubling", "s = [1]\nfor i in range(100):\n  s = s + s", meter.ErrTooBig},
	{"list doubling in place", "s = [1]\nfor i in range(100):\n  s += s", meter.ErrTooBig},
	{"list extending itself", "s = [1]\nfor i in range(100):\n  s.extend(s)", meter.ErrTooBig},
	{"tuple doubling", "s = (1,)\nfor i in range(100):\n  s += s", meter.ErrTooBig},
	{"string repetition", "return 'a' * (1 << 29)", meter.ErrTooBig},
	{"repetition of a repetition", "return ('a' * 10000) * 100000", meter.ErrTooBig},
	{"int times string", "return (1 << 40) * 'a'", meter.ErrTooBig},
	{"list repetition", "return [0] * (1 << 29)", meter.ErrTooBig},
	{"list repetition in place", "x = [0] * 100\nx *= 10000000", meter.ErrTooBig},
	{"tuple repetition", "return (0,) * (1 << 29)", meter.ErrTooBig},
	{"bytes repetition", "return b'a' * (1 << 29)", meter.ErrTooBig},
	{"join", "return ('x' * 1000).join(['y' * 10] * 1000000)", meter.ErrTooBig},
	{"replace", "s = 'a' * 100000\nreturn s.replace('a', s)", meter.ErrTooBig},
	{"replace nothing", "s = 'a' * 100000\nreturn s.replace('', s)", meter.ErrTooBig},
	{"split", "s = 'a,' * 5000000\nreturn s.split(',')", meter.ErrTooBig},
	{"split with room", "return 'a b'.rsplit(None, 1 << 30)", nil},
	{"splitlines", "s = '\\n' * 5000000\nreturn s.splitlines()", meter.ErrTooBig},
	{"elements of a string", "s = 'a' * 5000000\nreturn list(s.elems())", meter.ErrTooBig},
	{"letters of a string", "s = 'a' * 5000000\nreturn list(s.codepoints())", meter.ErrTooBig},
	{"strip", "s = 'ä' * 1000000\nfor i in range(1 << 40):\n  s.strip(s)", meter.ErrTooLong},
	{"count", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  s.count('ab')", meter.ErrTooLong},
	{"find", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  s.find('b')", meter.ErrTooLong},
	{"substring", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  'b' in s", meter.ErrTooLong},
	{"equal strings", "s = 'a' * 5000000\nt = 'a' * 5000000\nfor i in range(1 << 40):\n  s == t", meter.ErrTooLong},
	{"upper", "s = 'a' * 1000000\nfor i in range(1 << 40):\n  s.upper()", meter.ErrTooBig},
	{"format", "s = 'a' * 10000\nreturn ('{0}' * 10000).format(s)", meter.ErrTooBig},
	{"format a list", "s = ['a' * 10000]\nreturn ('{0}' * 10000).format(s)", meter.ErrTooBig},
	{"percent", "s = 'a' * 10000\nreturn ('%(a)s' * 100000) % {'a': s}", meter.ErrTooBig},
	{"percent quoted", "s = '\\0' * 10000000\nreturn '%r' % s", meter.ErrTooBig},
	{"percent a tuple", "s = ('a' * 10000,) * 10000\nreturn ('%s' * 10000) % s", meter.ErrTooBig},
	{"percent a list", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn '%s' % [x]", meter.ErrTooLong},
	{"shift", "return 1 << (10 * 1000 * 1000 * 1000)", nil},
	{"shifts", "x = 1\nfor i in range(1 << 40):\n  x = x << 500", meter.ErrTooBig},
	{"squares", "x = 3\nfor i in range(1 << 40):\n  x = x * x", meter.ErrTooBig},
	{"squares in place", "x = 3\nfor i in range(1 << 40):\n  x *= x", meter.ErrTooBig},
	{"multiplying", "x = 1 << 500\nfor i in range(6):\n  x = x * x\nfor i in range(1 << 40):\n  x * x * 3 // x", nil},
	{"dividing", "x = 1 << 500\nfor i in range(5):\n  x = x * x\ny = x * x - 1\nfor i in range(1 << 40):\n  y % x", meter.ErrTooLong},
	{"int of a text", "return int('9' * 10000000)", meter.ErrTooBig},
	{"text of an int", "x = 3\nfor i in range(15):\n  x = x * x\nfor i in range(1 << 40):\n  str(x)", meter.ErrTooLong},
	{"string of shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn str(x)", meter.ErrTooLong},
	{"shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn x", meter.ErrTooLong},
	{"shared dicts", "x = {}\nfor i in range(60):\n  x = {'a': x, 'b': x}\nreturn x", meter.ErrTooLong},
	{"json of shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn json.encode(x)", meter.ErrTooLong},
	{"equal shared lists", "x = 1\ny = 1\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\nreturn x == y", meter.ErrTooLong},
	{"equal wide lists", "x = 1\ny = 1\nfor i in range(9):\n  x = [x] * 100\n  y = [y] * 100\nreturn x == y", meter.ErrTooLong},
	{"equal shared dicts", "x = 1\ny = 1\nfor i in range(60):\n  x = {1: x, 2: x}\n  y = {1: y, 2: y}\nreturn x == y", meter.ErrTooLong},
	{"sorting shared lists", "x = 1\nfor i in range(60):\n  x = [x, x]\nreturn sorted([x, x])", meter.ErrTooLong},
	{"shared lists in a list", "x = 1\ny = 1\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\nreturn [x].index(y)", meter.ErrTooLong},
	{"removing shared lists", "x = 1\ny = 1\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\n[x].remove(y)", meter.ErrTooLong},
	{"hash of shared tuples", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {x: 1}", meter.ErrTooLong},
	{"set of shared tuples", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn set([x])", meter.ErrTooLong},
	{"shared tuples in a dict", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {}.get(x)", meter.ErrTooLong},
	{"shared tuples as an index", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {}[x]", meter.ErrTooLong},
	{"shared tuples in an update", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn dict([(x, 1)])", meter.ErrTooLong},
	{"shared tuples in a union", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn set().union([x])", meter.ErrTooLong},
	{"deep list", "x = []\nfor i in range(1 << 40):\n  x = [x]", meter.ErrTooBig},
	{"string of a deep list", "x = []\nfor i in range(300000):\n  x = [x]\nreturn str(x)", meter.ErrTooBig},
	{"json of a deep list", "x = []\nfor i in range(300000):\n  x = [x]\nreturn json.encode(x)", meter.ErrTooBig},
	{"result of a deep list", "x = []\nfor i in range(300000):\n  x = [x]\nreturn x", meter.ErrTooBig},
	{"equal deep lists", "x = []\ny = []\nfor i in range(100000):\n  x = [x]\n  y = [y]\nreturn x == y", nil},
	{"hash of a deep tuple", "x = ()\nfor i in range(300000):\n  x = (x,)\nreturn {x: 1}", meter.ErrTooBig},
	{"list in itself", "x = []\nx.append(x)\nreturn x", meter.ErrTooBig},
	{"json of a list in itself", "x = []\nx.append(x)\nreturn json.encode(x)", meter.ErrTooBig},
	{"dict in itself", "x = {}\nx['x'] = x\nreturn json.encode(x)", meter.ErrTooBig},
	{"equal lists in themselves", "x = []\nx.append(x)\nx.append(x)\ny = [1, 2]\ny[0] = y\ny[1] = y\nreturn x == y", nil},
	{"deep JSON", "return json.decode('[' * 1000000 + ']' * 1000000)", meter.ErrTooBig},
	{"wide JSON", "return json.decode('[' + '[1],' * 2000000 + '0]')", meter.ErrTooBig},
	{"JSON again and again", "s = json.encode(list(range(10000)))\nfor i in range(1 << 40):\n  json.decode(s)", meter.ErrTooBig},
	{"long number", "return json.decode('1' * 1000000)", meter.ErrTooBig},
	{"recursion", "f = lambda f, n: f(f, n + 1)\nreturn f(f, 0)", nil},
	{"colliding keys", "x = {}\nfor i in range(1 << 40):\n  x[i << 32] = 1", meter.ErrTooLong},
	{"slices", "x = list(range(100000))\ny = []\nfor i in range(1 << 40):\n  y.append(x[1:])", meter.ErrTooBig},
	{"backward slices", "x = 'a' * 1000000\ny = []\nfor i in range(1 << 40):\n  y.append(x[::-1])", meter.ErrTooBig},
	{"insert", "x = list(range(100000))\nfor i in range(1 << 40):\n  x.insert(0, 1)\n  x.pop(0)", nil},
	{"unions", "x = set(range(1000))\ny = []\nfor i in range(1 << 40):\n  y.append(x | x)", meter.ErrTooLong},
	{"dict unions", "x = {i: i for i in range(1000)}\ny = []\nfor i in range(1 << 40):\n  y.append(x | x)", meter.ErrTooLong},
	{"items", "x = {i: i for i in range(1000)}\ny = []\nfor i in range(1 << 40):\n  y.append(x.items())", meter.ErrTooBig},
	{"printing", "x = 'a' * 1000000\nfor i in range(1 << 40):\n  print(x)", meter.ErrTooBig},
	{"failing", "x = []\nfor i in range(60):\n  x = [x, x]\nfail(x)", meter.ErrTooLong},
	{"missing key", "x = ()\nfor i in range(60):\n  x = (x, x)\nreturn {1: 1}[str(x)]", meter.ErrTooLong},
	{"shuffling", "return shuffle(range(1 << 40))", meter.ErrTooBig},
	{"sampling", "return sample(range(1 << 40), 3)", meter.ErrTooBig},
	{"keyword arguments", "f = lambda **kw: kw\nd = {str(i): i for i in range(10000)}\nx = []\nfor i in range(1 << 40):\n  x.append(f(**d))", meter.ErrTooBig},
	{"weight of shared lists", "x = []\nfor i in range(60):\n  x = [x, x]\nreturn weighted({'a': x})", nil},
	{"percent of long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nreturn ('%d' * 100000) % ((x,) * 100000)", meter.ErrTooBig},
	{"percent of a long int by name", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nreturn ('%(a)d' * 100000) % {'a': x}", meter.ErrTooBig},
	{"format a long int", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nreturn ('{0}' * 100000).format(x)", meter.ErrTooBig},
	{"percent of large floats", "return ('%f' * 400000) % ((1e308,) * 400000)", meter.ErrTooBig},
	{"prefixes", "s = 'a' * 10000000\nt = s[:-1] + 'b'\nreturn s.startswith((t,) * 100000)", meter.ErrTooLong},
	{"suffixes", "s = 'a' * 10000000\nt = 'b' + s[1:]\nreturn s.endswith((t,) * 100000)", meter.ErrTooLong},
	{"float of a text", "s = '0.' + '0' * 10000000 + '1'\nfor i in range(1 << 40):\n  float(s)", meter.ErrTooLong},
	{"long names", "s = 'a' * 10000000\nfor i in range(1 << 40):\n  hasattr(s, s)", meter.ErrTooLong},
	{"long names of a record", "s = 'a' * 10000000\nx = json.decode('{\"a\": 1}')\nfor i in range(1 << 40):\n  s in x", meter.ErrTooLong},
	{"equal bytes", "s = b'a' * 5000000\nt = b'a' * 5000000\nfor i in range(1 << 40):\n  s == t", meter.ErrTooLong},
	{"negative long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\ny = []\nfor i in range(1 << 40):\n  y.append(-x)", meter.ErrTooBig},
	{"inverted long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\ny = []\nfor i in range(1 << 40):\n  y.append(~x)", meter.ErrTooBig},
	{"sizes of long ints", "x = 1 << 500\nfor i in range(7):\n  x = x * x\nx = -x\ny = []\nfor i in range(1 << 40):\n  y.append(abs(x))", meter.ErrTooBig},
	{"ints of large floats", "y = []\nfor i in range(1 << 40):\n  y.append(int(1e308))", meter.ErrTooBig},
	{"rounded large floats", "y = []\nfor i in range(1 << 40):\n  y.append(round(1e308))", meter.ErrTooBig},
	{"floors of large floats", "y = []\nfor i in range(1 << 40):\n  y.append(math.floor(1e308))", meter.ErrTooBig},
	{"lists of names", "y = []\nfor i in range(1 << 40):\n  y.append(dir(''))", meter.ErrTooBig},
	{"failing at length", "fail('a' * 30000000)", nil},
}

func TestBombs(t *testing.T) {
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			src := "def bomb():\n  " + strings.ReplaceAll(bomb.body, "\n", "\n  ") + "\n"
			config := Config{Functions: &Source{"bomb.star", src}}
			if raceDetector { // ten times slower, so a tenth of the limits
				limits := config.Limits.OrDefaults()
				config.Limits = meter.Limits{Steps: limits.Steps / 10, Bytes: limits.Bytes / 10}
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
			_, err = x.Eval(&Context{Names: Vars{"now": value.NewTime(start)}, Field: "bomb"})
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
	if _, err := value.AppendJSON(nil, zeros); !errors.Is(err, meter.ErrTooBig) {
		t.Errorf("30 MB that take 180 as JSON: got %v, want meter.ErrTooBig", err)
	}
	if text, err := value.AppendJSON(nil, zeros[:5_000_000]); err != nil || len(text) != 30_000_002 {
		t.Errorf("5 MB that take 30 as JSON: got %d bytes, %v", len(text), err)
	}
	broken := starlark.String(strings.Repeat("\xff", 12_000_000))
	if _, err := value.AppendJSON(nil, broken); !errors.Is(err, meter.ErrTooBig) {
		t.Errorf("12 MB of invalid UTF-8: got %v, want meter.ErrTooBig", err)
	}
	key := make(starlark.Tuple, 200_000)
	for i := range key {
		key[i] = zeros[:1000]
	}
	d := starlark.NewDict(1)
	if err := d.SetKey(key, starlark.None); err != nil {
		t.Fatal(err)
	}
	if _, err := value.Data(d); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a key of 200 MB: got an error of %d bytes", len(err.Error()))
	}
}
