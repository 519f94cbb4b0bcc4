package torture

import "math"

// Slope is the line of least squares through points: how much y grows by one of x, and the
// standard error of that. Fewer than three points, or ones of the same x, have neither.
func Slope(x, y []float64) (slope, err float64) {
	n := float64(len(x))
	if len(x) < 3 || len(x) != len(y) {
		return 0, 0
	}
	var mx, my float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	if sxx == 0 {
		return 0, 0
	}
	slope = sxy / sxx
	var rest float64
	for i := range x {
		d := y[i] - my - slope*(x[i]-mx)
		rest += d * d
	}
	return slope, math.Sqrt(rest / (n - 2) / sxx)
}

// Flat reports whether a slope is none: below what is allowed, or within three standard errors
// of it.
func Flat(slope, err, allowed float64) bool { return slope <= allowed+3*err }

// Soak is what a soak has measured: how much each quantity grew by the hour, with standard
// errors, after its first quarter.
type Soak struct {
	// Sources is the hash of the product's sources (benchline.Sources).
	Sources string `json:"sources"`
	// Spark says that the applications ran on real Spark.
	Spark        bool               `json:"spark,omitempty"`
	Minutes      float64            `json:"minutes"`
	Applications int                `json:"applications"`
	Samples      int                `json:"samples"`
	Slope        map[string]float64 `json:"slope_per_hour"`
	Error        map[string]float64 `json:"error"`
	Last         map[string]float64 `json:"last"`
}

// The quantities of a Soak: MiB of resident memory, of what Go's heap holds, of stores and of
// work directories, and numbers of descriptors and goroutines.
const (
	RSS         = "rss_mib"
	Heap        = "go_heap_objects_mib"
	Stores      = "store_mib"
	Work        = "work_mib"
	Descriptors = "descriptors"
	Goroutines  = "goroutines"
)
