package script

// Origin says where a place of a text that was compiled stands in its author's file. Lines and columns count from 1;
// those given are relative to the text.
type Origin func(line, col int) (file string, fileLine, fileCol int)

// From has the expression's errors say their places in the file that it is from. It is called before any evaluation.
func (x *Expr) From(o Origin) *Expr {
	x.origin = o
	return x
}

// From is [Expr.From] for templates.
func (t *Template) From(o Origin) *Template {
	t.origin = o
	return t
}

// located has an error of an evaluation say its places in the author's files, once: those of an expression by its
// origin, those of functions by theirs. Without an origin they stay relative.
func (e *Env) located(err error, of Origin) error {
	at, ok := err.(*EvalError) //nolint:errorlint // one that is wrapped is located already
	if !ok || at.located {
		return err
	}
	at.located = true
	for i := range at.Trace {
		f := &at.Trace[i]
		switch {
		case f.File == "" && of != nil:
			f.File, f.Line, f.Col = of(f.Line, f.Col)
		case f.File != "" && e.origin != nil:
			f.File, f.Line, f.Col = e.origin(f.Line, f.Col)
		}
	}
	return err
}
