package engine

import "time"

// Budget is what a run may take. The zero value has no bounds.
type Budget struct {
	Dollars  float64       // what calls of models may cost; 0 is any
	Tokens   int64         // in and out; 0 is any
	Requests int64         // attempts that leave, to all services; 0 is any
	Wall     time.Duration // of all processes that work on the run, pauses included; 0 is any
}

// Amount is a part of a budget.
type Amount struct{ Cost, Tokens, Requests int64 } // Cost in billionths of a US dollar

// BudgetState is how far a budget is used up.
type BudgetState struct {
	Budget  Budget
	Spent   Amount
	Claimed Amount // by requests under way, at most
	// Forecast is what the run will have spent at its end if it goes on as so far; zero while nobody can say.
	Forecast Amount
	Short    string // in words: which bound will not last, or is reached; "" is none
}
