// Package openapi reads OpenAPI documents: 3.0, 3.1, 3.2, and Swagger 2, as YAML or JSON.
//
// It is lenient: whatever cannot be read is left out and listed ([Document.Problems]), so that one mistake does not lose the other
// operations. This is why it keeps its own tree of a document and does not decode it with a library: kin-openapi decodes a document as
// a whole, where one wrong type or one bad reference loses everything, forgets the order of paths, and knows positions only for
// documents that it could decode (20 MB take it 25 s and 2.6 GB, and this package 2 s and 0.2 GB). Its openapi2conv translates Swagger 2, path by path, and its loader is the reference in tests.
// JSON Schemas are checked by santhosh-tekuri/jsonschema.
//
// References to other files are read with [Options.Open], and those to other hosts with [Options.Fetch]; without them they are refused
// and what needs them is left out.
package openapi
