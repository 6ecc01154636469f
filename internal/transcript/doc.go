// Package transcript holds one test and nothing else: what every method asks of a table and is
// answered, to the last bit, so that a change that is meant to change no answer can show that it
// changed none.
package transcript
