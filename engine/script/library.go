package script

import "go.starlark.net/starlark"

// builtin calls a library function that works on strings only and builds nothing large except long ints.
func (m *machine) builtin(f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
	for _, v := range args {
		if text, ok := v.(starlark.String); ok {
			if err := m.work(len(text)); err != nil {
				return nil, err
			}
		}
	}
	v, err := f.CallInternal(nil, args, kwargs)
	if err == nil {
		err = m.chargeMade(v)
	}
	return v, err
}

// chargeMade charges the long int or list of names that a library function returned.
func (m *machine) chargeMade(v Value) error {
	switch v := v.(type) {
	case starlark.Int:
		if _, small := v.Int64(); !small {
			return m.charge(listSize + v.BigInt().BitLen()/8)
		}
	case *starlark.List:
		return m.charge(listSize + 2*wordSize*v.Len())
	}
	return nil
}
