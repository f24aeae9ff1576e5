package ops

import (
	"fmt"
)

// inSequence says which sequence an error is about.
func inSequence(name TableName, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sequence %s: %w", name, err)
}
