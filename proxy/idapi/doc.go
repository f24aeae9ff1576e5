// Package idapi gives ids over HTTP to programs that are no MySQL clients: the next ones of sequences and generators as
// JSON, and one by one as plain text at the paths of Leaf. They come from where SQL takes them, so none is given twice.
//
// Ids are numbers up to 2^63-1 and stand in JSON as strings: JavaScript's numbers end at 2^53. An id whose answer is lost on
// the way is a gap: who asks again gets others. openapi.yaml describes all of it, and a test holds it equal to the code.
package idapi
