package supervisor

import "testing"

// InOrder is a strategy's own word, and that of the default for no name.
func TestWhichStrategiesServeInOrder(t *testing.T) {
	for _, name := range append(Strategies(), "") {
		cfg := Default()
		if name != "" {
			cfg.Strategy = name
		}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if InOrder(name) != s.InOrder() {
			t.Errorf("%q: %v", name, InOrder(name))
		}
	}
	if InOrder("no such strategy") {
		t.Error("an unknown strategy serves in order")
	}
}
