package airflow

import (
	"testing"

	"github.com/sparkpacer/pacer/test/realenv"
)

func TestMain(m *testing.M) { realenv.Main(m) }
