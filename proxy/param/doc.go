// Package param says what a bound parameter is: as an id (Slot), as a value of a vindex, and as a literal that a server stores alike.
package param
