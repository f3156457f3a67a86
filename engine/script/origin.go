package script

// Origin is the position of a compiled text in its author's file. Lines and columns count from 1; the given ones are
// relative to the text.
type Origin func(line, col int) (file string, fileLine, fileCol int)

// From sets the file positions that the expression's errors report. Call it before any evaluation.
func (x *Expr) From(o Origin) *Expr {
	x.origin = o
	return x
}

// From is [Expr.From] for templates.
func (t *Template) From(o Origin) *Template {
	t.origin = o
	return t
}

// located translates the positions of an evaluation error to the author's files, once: those of an expression by its
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
