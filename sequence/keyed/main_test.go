package keyed

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }
