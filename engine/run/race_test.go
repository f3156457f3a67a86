//go:build race

package run_test

import (
	"flag"
	"fmt"
)

// Under the race detector, 25 checks of a property take as long as 200 without it. make test does the rapid library's 100 without
// it, and these with it.
func init() {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(fmt.Sprint("number of checks under the race detector: ", err))
	}
}
