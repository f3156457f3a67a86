// Package script is the sandbox that a scenario's expressions, templates and functions run in. The language is
// Starlark; its parser, name resolution, values and operators are those of go.starlark.net. The evaluator is ours,
// because theirs has no bound on memory and cannot be stopped inside a built-in: here every operation is charged to
// the evaluation's limits before it is done, so a bomb fails its own evaluation and nothing else.
//
// # Data
//
// Everything is a [Value], never converted: None, bool, int, float and string are Starlark's own, lists are frozen
// Starlark lists ([NewList]), and objects are a [Record]: ordered, immutable, attributes are fields only. [Lazy] shows
// an object whose fields are computed on demand, [Missing] stands for what a step that did not run would have given,
// [Time] for a moment. [Data] turns whatever a script returned into such data, and gives exactly what
// DecodeJSON(AppendJSON(v)) would: a value that lived on and one that came back from the journal are the same.
//
// # Evaluation
//
// [New] builds an [Env] from the functions file, once per scenario. It compiles expressions ([Env.Expr]) and templates
// ([Env.Template]) against a [Scope], the names that are only known at run time, and gives access to functions
// ([Env.Func]). The results are immutable, may be evaluated by any number of goroutines at once, and take what is
// particular to one evaluation from a [Context]:
//
//	env, err := script.New(script.Config{Functions: &script.Source{Name: "shopping.star", Text: text}, Params: params})
//	cond, err := env.Expr("agent.budget > 10 and not steps.browse.ok", script.Scope{"agent", "steps", "now"})
//	v, err := cond.Eval(&script.Context{Names: session, Key: key, Field: "when", Done: ctx.Done()})
//
// Mistakes in a source are [Errors] with positions and hints, all of a file at once. What goes wrong while evaluating
// is an [EvalError] with a trace; errors.Is tells [ErrTooLong], [ErrTooBig] and [ErrStopped] apart from the rest.
package script
