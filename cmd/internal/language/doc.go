// Package language holds the test that keeps the repository in plain English: see TestPlainEnglish.
package language
