package bench

import "testing"

func tick(t *testing.T, add adder) {}
