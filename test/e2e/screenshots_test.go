package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/browser"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestScreenshots takes the pictures of docs/img: applications of four people on real Spark, of which one keeps its
// deadline, one cannot, one has none and one waits.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("PACER_TEST_PICTURES")
	if dir == "" {
		t.Skip("takes the pictures of docs/img: run it by `make screenshots`")
	}
	realenv.RequireSpark(t)
	browser.Require(t)
	s := realenv.StartUp(t, "--set", "node.memory=5g") // Room for three of them.
	tab := browser.New(t, 1280, 800)
	enter(t, s, tab)

	took := map[string]float64{} // In seconds, at all cores.
	for _, first := range []struct{ user, name, size string }{
		{"ann", "nightly-orders", "2.5"}, {"ben", "fraud-scores", "1"}, {"cleo", "weekly-report", "1"}} {
		if code := shop(t, s, first.user, first.name, first.size).Wait(patience); code != 0 {
			t.Fatalf("%s: exit %d", first.name, code)
		}
		app := s.AwaitApp("its profile", patience, func(a api.AppDetail) bool {
			return a.Name == first.name && a.State == api.AppFinished
		})
		took[first.name] = float64(app.Duration)
	}
	due := func(name string, times float64) []string {
		return []string{"--pacer-deadline", fmt.Sprintf("%.0fs", took[name]*times)}
	}
	runs := []*realenv.Process{shop(t, s, "ann", "nightly-orders", "2.5", due("nightly-orders", 5)...)}
	orders := awaitTasks(t, s, runs[0])
	runs = append(runs, shop(t, s, "dora", "customer-segments", "3"))
	awaitTasks(t, s, runs[1])
	runs = append(runs, shop(t, s, "ben", "fraud-scores", "1", due("fraud-scores", 0.8)...))
	awaitTasks(t, s, runs[2])
	runs = append(runs, shop(t, s, "cleo", "weekly-report", "1", due("weekly-report", 6)...))
	s.AwaitApp("one that waits", patience, func(a api.AppDetail) bool { return a.State == api.AppQueued })
	s.Await("half of the stages to be done", patience, func() bool {
		done := 0
		for _, stage := range s.App(orders.ID).Stages {
			if stage.State == "done" {
				done++
			}
		}
		return done >= 3
	})
	of := "#/app/" + string(orders.ID)
	for _, theme := range []string{"light", "dark"} {
		picture(t, tab, dir, "now-"+theme, "#/", theme, 900)
		picture(t, tab, dir, "application-"+theme, of, theme, 1500)
	}
	for _, run := range runs {
		if code := run.Wait(patience); code != 0 {
			t.Errorf("exit %d", code)
		}
	}
	picture(t, tab, dir, "profile-light", "#/profile/nightly-orders", "light", 900)
	picture(t, tab, dir, "report-dark", "#/report", "dark", 420)
}

// shop submits shop.py under a name for a user, who is issued a credential.
func shop(t *testing.T, s *realenv.System, user, name, size string, flags ...string) *realenv.Process {
	t.Helper()
	credential := filepath.Join(s.Dir, user+".credential")
	if _, err := os.Stat(credential); err != nil {
		if code, out := s.Pacer("auth", "issue", "--user", user, "--out", credential); code != 0 {
			t.Fatalf("pacer auth issue: exit %d: %s", code, out)
		}
	}
	s.Env = []string{"PACER_CLIENT_CREDENTIALS=" + credential}
	defer func() { s.Env = nil }()
	return s.Submit(append(flags, "--name", name, "testdata/shop.py", size)...)
}

// mostBytes bounds a picture: the repository keeps each one that there ever was.
const mostBytes = 150 << 10

// picture takes a view of the page, as high as it is but no higher than that.
func picture(t *testing.T, tab *browser.Tab, dir, name, hash, theme string, most int) {
	t.Helper()
	tab.Theme(theme)
	tab.Size(1280, 800)
	browser.Eval[any](tab, fmt.Sprintf("location.hash = %q; 0", hash))
	tab.Later(3)
	high := browser.Eval[int](tab, "Math.ceil(document.querySelector('main').getBoundingClientRect().bottom + scrollY)")
	tab.Size(1280, min(most, high))
	tab.Later(2)
	file := filepath.Join(dir, name+".png")
	tab.Picture(file)
	lighten(t, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d KiB", name, info.Size()>>10)
	if info.Size() > mostBytes {
		t.Errorf("%s has %d KiB, at most %d may be", name, info.Size()>>10, mostBytes>>10)
	}
}

// lighten writes a picture with its 256 commonest colours.
func lighten(t *testing.T, file string) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	is, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	seen, common, b := map[color.Color]int{}, color.Palette(nil), is.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			if seen[is.At(x, y)]++; seen[is.At(x, y)] == 1 {
				common = append(common, is.At(x, y))
			}
		}
	}
	slices.SortStableFunc(common, func(a, b color.Color) int { return seen[b] - seen[a] })
	out := image.NewPaletted(b, common[:min(256, len(common))])
	draw.Draw(out, b, is, image.Point{}, draw.Src)
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, small.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
