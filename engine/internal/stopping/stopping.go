// Package stopping tells work in flight that its run is ending. Unlike a cut, which ends the context of all work, it ends only what would
// wait for something that may take as long as it likes.
package stopping

import "context"

type key struct{}

// Context returns a context for the work of a run, and a function that says that the run is ending.
func Context(parent context.Context) (ctx context.Context, begin func()) {
	over, begin := context.WithCancel(context.WithoutCancel(parent))
	return context.WithValue(parent, key{}, over), begin
}

// Until returns a context for a wait, which also ends with cause once the run is ending. Call the function after the wait.
func Until(ctx context.Context, cause error) (wait context.Context, end func()) {
	over, ok := ctx.Value(key{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	wait, cancel := context.WithCancelCause(ctx)
	if over.Err() != nil {
		cancel(cause)
	}
	forget := context.AfterFunc(over, func() { cancel(cause) })
	return wait, func() {
		forget()
		cancel(nil)
	}
}
