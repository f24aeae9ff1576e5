package main

import (
	"fmt"
)

// inSequence says which sequence an error is about.
func inSequence(name tableName, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sequence %s: %w", name, err)
}
