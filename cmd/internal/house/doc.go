// Package house holds the tests that keep packages and types small and structs unique: see TestPackageSize, TestTypeSize
// and TestStructClones.
package house
