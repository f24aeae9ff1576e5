// Package archtest holds the module's packages to their layers: which of them may import which, and which may import a
// library that stands for a whole concern.
package archtest
