package ops

import (
	"errors"
	"strings"
	"testing"
)

// A URL of Redis that cannot be read is not told, since it has a password.
func TestImportRedisURL(t *testing.T) {
	const url = "redis://app:s3cret@127.0.0.1:63a79/0"
	var usage UsageError
	if _, err := openRedis(t.Context(), url); !errors.As(err, &usage) || strings.Contains(err.Error(), "s3c") {
		t.Errorf("got %v", err)
	}
}
