package browser

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keys that have no letter, for Type and Press.
const (
	Enter  = kb.Enter
	Escape = kb.Escape
	Tabs   = kb.Tab
)

// patience bounds a step: a machine with other work is several times slower for a while.
const patience = 2 * time.Minute

// Require skips a test where there is no chromium, or where only what needs nothing but Go is to run.
func Require(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); testing.Short() || err != nil {
		t.Skip("needs chromium: make web-test")
	}
}

// Tab is a page in a browser of its own, which ends with the test.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	console  []string
	refused  []string
}

// New starts a browser with a window of that size, in CSS pixels.
func New(t testing.TB, width, height int) *Tab {
	t.Helper()
	ctx, end := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(
		chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU, chromedp.ExecPath("chromium"),
		chromedp.WindowSize(width, height), chromedp.UserDataDir(t.TempDir()), chromedp.Flag("hide-scrollbars", true)))
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); end() })
	b := &Tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	said := chromedp.Console(ctx)
	go func() {
		for m, err := range said {
			if err != nil {
				return
			}
			b.hear(m)
		}
	}()
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	if err != nil {
		t.Fatal(err)
	}
	b.Size(width, height)
	return b
}

// do carries actions out, and fails the test where one does not work in time.
func (b *Tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v; the console: %q", what, err, b.Console())
	}
}

func (b *Tab) listen(event any) {
	if e, ok := event.(*network.EventRequestWillBeSent); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *Tab) hear(m chromedp.ConsoleMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case m.Source == "security", strings.Contains(m.Text, "Content Security Policy"), strings.Contains(m.Text, "Trusted"):
		b.refused = append(b.refused, m.Text)
	case m.IsException() || m.Type == "error" || m.Type == "warning" || m.Type == "assert":
		b.console = append(b.console, m.String())
	}
}

// Requests are the addresses that the page has asked for.
func (b *Tab) Requests() []string { return b.copied(&b.requests) }

// Console is what the console has said of errors and warnings.
func (b *Tab) Console() []string { return b.copied(&b.console) }

// Refused is what the Content-Security-Policy has not allowed.
func (b *Tab) Refused() []string { return b.copied(&b.refused) }

// Forgive drops what the console has said with one of some words in it, as of what was to fail.
func (b *Tab) Forgive(words ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = slices.DeleteFunc(b.console, func(said string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	})
}

func (b *Tab) copied(of *[]string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), *of...)
}

// Open loads an address.
func (b *Tab) Open(url string) {
	b.t.Helper()
	b.do("open "+url, chromedp.Navigate(url))
}

// Eval is the value of an expression in the page, of a promise too.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v; the console: %q", expression, err, b.Console())
	}
	return v
}

// Until waits until an expression is true, which is asked whenever the page has changed.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	poll := chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(patience))
	b.do("until "+expression, poll)
}

// Seen waits until the page shows a text.
func (b *Tab) Seen(text string) {
	b.t.Helper()
	b.Until("document.body.innerText.includes(" + quoted(text) + ")")
}

// Later waits until the page has shown so many further states of the planner.
func (b *Tab) Later(states int) {
	b.t.Helper()
	seq := Eval[int](b, `Number(document.documentElement.dataset.seq ?? 0)`)
	b.Until("Number(document.documentElement.dataset.seq) >= " + number(seq+states))
}

// Click clicks on the first element that a CSS selector finds.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Type puts keys into the element that a CSS selector finds.
func (b *Tab) Type(selector, keys string) {
	b.t.Helper()
	b.do("type into "+selector, chromedp.SendKeys(chromedp.CSS(selector), keys))
}

// Press presses keys where the focus is.
func (b *Tab) Press(keys string) {
	b.t.Helper()
	b.do("press "+keys, chromedp.KeyEvent(keys))
}

// Size makes the window that large.
func (b *Tab) Size(width, height int) {
	b.t.Helper()
	b.do("resize", chromedp.EmulateViewport(int64(width), int64(height)))
}

// Theme has the page shown to somebody who prefers "light" or "dark".
func (b *Tab) Theme(name string) {
	b.t.Helper()
	prefers := emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, prefers); err != nil {
		b.t.Fatal(err)
	}
}

// Picture writes what is seen as a PNG.
func (b *Tab) Picture(file string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
