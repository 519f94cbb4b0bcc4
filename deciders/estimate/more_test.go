package estimate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// The oracle has the probabilities by the gamma function, and adds up those of all that may come.
func TestHowManyFurtherOnesMayCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, rate := rapid.Float64Range(0.1, 30).Draw(t, "shape"), rapid.Float64Range(5, 100).Draw(t, "rate")
		further, certainty := rapid.Float64Range(1, 100).Draw(t, "further"), rapid.Float64Range(0.5, 0.99).Draw(t, "certainty")
		below := func(n int) (sum float64) {
			for k := range n + 1 {
				all, _ := math.Lgamma(shape + float64(k))
				of, _ := math.Lgamma(shape)
				ways, _ := math.Lgamma(float64(k) + 1)
				sum += math.Exp(all - of - ways + shape*math.Log(rate/(rate+further)) + float64(k)*math.Log(further/(rate+further)))
			}
			return sum
		}
		n := mostFurther(shape, rate, further, certainty)
		if below(n) < certainty-1e-9 || n > 0 && below(n-1) >= certainty+1e-9 {
			t.Fatalf("%d, of which at most come with %v, one less with %v", n, below(n), below(n-1))
		}
	})
}

// Of a run of which little is left little more comes; the more have come the more will.
func TestFurtherOnesAreAsManyAsThoseThatCame(t *testing.T) {
	for _, c := range []struct {
		lacking, known, coming float64
		least, most            int
	}{{1, 29, 0, 0, 0}, {5, 24, 0, 1, 1}, {5, 12, 12, 5, 12}, {1, 5, 24, 3, 12}, {1, 20, 9, 1, 2}} {
		if n := mostFurther(moreOf+c.lacking, moreIn+c.known, c.coming+1, 0.95); n < c.least || n > c.most {
			t.Errorf("%+v: %d", c, n)
		}
	}
}
