// Package script is the sandbox for a scenario's expressions, templates and functions. The language is Starlark; the
// parser, name resolution, values and operators are those of go.starlark.net. The evaluator is Throng's own, because
// go.starlark.net does not limit memory and cannot be canceled inside a built-in. Here every operation is charged to
// the evaluation's limits before it runs, so a runaway script fails its own evaluation and nothing else. Its compiled
// closures also evaluate a condition about 12 times faster than the library.
//
// # Evaluation
//
// [New] builds an [Env] from the functions file, once per scenario. It compiles expressions ([Env.Expr]) and templates
// ([Env.Template]) against a [Scope], the names that are known only at run time, and provides access to functions
// ([Env.Func]). The results are immutable and safe for concurrent use. Each evaluation takes its own inputs from a
// [Context]. Values are those of package value:
//
//	env, err := script.New(script.Config{Functions: &script.Source{Name: "shopping.star", Text: text}, Params: params})
//	cond, err := env.Expr("agent.budget > 10 and not steps.browse.ok", script.Scope{"agent", "steps", "now"})
//	v, err := cond.Eval(&script.Context{Names: session, Key: key, Field: "when", Done: ctx.Done()})
//
// Errors in a source are [Errors] with positions and hints, all errors of a file together. An error during evaluation
// is an [EvalError] with a trace; use errors.Is to test for the causes that package meter defines.
package script
