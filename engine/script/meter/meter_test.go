package meter

import (
	"errors"
	"testing"

	"go.starlark.net/starlark"
)

func start(l Limits) *Meter {
	m := new(Meter)
	m.Start(l.OrDefaults(), nil)
	return m
}

func TestSteps(t *testing.T) {
	m := start(Limits{Steps: 100})
	if err := m.Step(99); err != nil {
		t.Errorf("99 of 100 steps: %v", err)
	}
	if err := m.Step(1); !errors.Is(err, ErrTooLong) {
		t.Errorf("100 of 100 steps: got error %v, want %v", err, ErrTooLong)
	}
	m.Start(Limits{Steps: 100}, nil)
	if err := m.Step(99); err != nil {
		t.Errorf("after a new start: %v", err)
	}
}

func TestDone(t *testing.T) {
	done := make(chan struct{})
	close(done)
	m := new(Meter)
	m.Start(Limits{}.OrDefaults(), done)
	if err := m.Step(interval - 1); err != nil {
		t.Errorf("before the check: %v", err)
	}
	if err := m.Step(1); !errors.Is(err, ErrStopped) {
		t.Errorf("got error %v, want %v", err, ErrStopped)
	}
}

func TestBytes(t *testing.T) {
	m := start(Limits{Bytes: 1000})
	if m.Built() {
		t.Error("a new meter has built something")
	}
	if err := m.Charge(1000); err != nil || m.Left() != 0 || !m.Built() {
		t.Errorf("1000 of 1000 bytes: error %v, %d left", err, m.Left())
	}
	if err := m.Charge(1); !errors.Is(err, ErrTooBig) {
		t.Errorf("1001 of 1000 bytes: got error %v, want %v", err, ErrTooBig)
	}
	for _, n := range []int{1 << 62, 1 << 40} { // the product overflows
		if err := start(Limits{}).ChargeMany(n, 1<<30); !errors.Is(err, ErrTooBig) {
			t.Errorf("%d times 1 GB: got error %v, want %v", n, err, ErrTooBig)
		}
	}
}

func TestCollect(t *testing.T) {
	list := starlark.Tuple{starlark.MakeInt(1), starlark.MakeInt(2)}
	got, err := start(Limits{}).Collect(list, ElemSize)
	if err != nil || starlark.Tuple(got).String() != list.String() {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := start(Limits{Bytes: 2*ElemSize - 1}).Collect(list, ElemSize); !errors.Is(err, ErrTooBig) {
		t.Errorf("got error %v, want %v", err, ErrTooBig)
	}
}

// TestCollidingKeys inserts ints whose hashes are equal.
func TestCollidingKeys(t *testing.T) {
	for name, insert := range map[string]func(m *Meter) func(k starlark.Value) error{
		"dict": func(m *Meter) func(k starlark.Value) error {
			d := new(starlark.Dict)
			return func(k starlark.Value) error { return m.Insert(d, k, starlark.None) }
		},
		"set": func(m *Meter) func(k starlark.Value) error {
			s := new(starlark.Set)
			return func(k starlark.Value) error { return m.Add(s, k) }
		},
	} {
		add, n := insert(start(Limits{})), 0
		for err := error(nil); err == nil && n <= maxAlike; n++ {
			err = add(starlark.MakeInt64(int64(n+1) << 32))
			if failed := n == maxAlike; failed != errors.Is(err, ErrTooLong) {
				t.Errorf("%s: key %d: got error %v", name, n, err)
			}
		}
		if n != maxAlike+1 {
			t.Errorf("%s: %d keys were inserted, want %d", name, n-1, maxAlike)
		}
	}
}

func TestDeepKeys(t *testing.T) {
	key := starlark.Tuple{}
	for range MaxDepth + 1 {
		key = starlark.Tuple{key}
	}
	if err := start(Limits{}).ChargeHash(key); !errors.Is(err, ErrTooBig) {
		t.Errorf("got error %v, want %v", err, ErrTooDeep)
	}
}
