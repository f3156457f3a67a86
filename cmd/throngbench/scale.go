package main

// scaleRows measure what grows: many agents, cycles, rows, steps.
func scaleRows() []row { return nil }
