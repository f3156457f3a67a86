package main

// studyRows measure what surrounds runs: experiments, imports, surveys and mocks.
func studyRows() []row {
	return []row{experimentRow(), importRow(), simulatorRow(), surveyRow(), apiRow(), comparisonRow()}
}
