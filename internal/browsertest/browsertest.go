// Package browsertest opens pages in a headless Chromium of a test's own.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test may use a browser.
const patience = 5 * time.Minute

// Browser is a running Chromium. Make one by Start.
type Browser struct {
	ctx context.Context
}

// Start starts a browser that ends with the test. It skips the test where there is none, and fails it there with CI=true.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		const advice = "chromium is not installed: scripts/test-deps installs it from Debian's package chromium"
		if os.Getenv("CI") == "true" {
			tb.Fatal(advice)
		}
		tb.Skip(advice)
	}
	folder, err := os.MkdirTemp("", "seqgate-chromium-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			tb.Logf("files of the browser stay: %v", err) // one of its processes may still write
		}
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.UserDataDir(folder),
		chromedp.Env("TMPDIR="+folder, "HOME="+folder), chromedp.WSURLReadTimeout(patience),
		chromedp.NoSandbox) // a sandbox is not to be had by root, as CI is; the pages are our own
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	tb.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	tb.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		tb.Fatalf("start %s: %v", path, err)
	}
	tb.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			tb.Logf("the browser did not end in order: %v", err)
		}
	})
	return &Browser{ctx: ctx}
}

// Page is a tab with passwords of its own.
type Page struct {
	tb  testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// Open opens an empty page of this size; one that is less than 600 wide is a phone's.
func (b *Browser) Open(tb testing.TB, width, height int64) *Page {
	tb.Helper()
	p := &Page{tb: tb}
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.listen))
	tb.Cleanup(end)
	p.ctx = ctx
	size := chromedp.EmulateViewport(width, height)
	if width < 600 {
		size = chromedp.EmulateViewport(width, height, chromedp.EmulateMobile)
	}
	p.Do(size)
	return p
}

// listen notes what the page says of errors.
func (p *Page) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.note(fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.note(fmt.Sprintf("console: %s %+v", e.Type, e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.note(fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
		}
	}
}

func (p *Page) note(problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, problem)
}

// Problems returns the errors and warnings of the page so far: of scripts, of what its policy refused, of what could not
// be loaded.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Try runs the actions.
func (p *Page) Try(actions ...chromedp.Action[chromedp.Void]) error {
	return chromedp.Do(p.ctx, actions...)
}

// Do runs the actions, and fails the test when one fails.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.tb.Helper()
	p.check(p.Try(actions...))
}

func (p *Page) check(err error) {
	p.tb.Helper()
	if err != nil {
		p.tb.Fatalf("%v; the page's problems: %q", err, p.Problems())
	}
}

// Goto opens an address, and waits until the page is loaded.
func (p *Page) Goto(url string) {
	p.tb.Helper()
	p.Do(chromedp.Navigate(url))
}

// Number returns the number that an expression of JavaScript is.
func (p *Page) Number(expression string) float64 {
	p.tb.Helper()
	n, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](expression))
	p.check(err)
	return n
}

// Wait waits until an expression of JavaScript is true. The browser's own way to wait needs what the pages' policy forbids.
func (p *Page) Wait(expression string) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience/2)
	defer cancel()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if is && err == nil {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			p.tb.Fatalf("it did not come true that %s (%v); the page's problems: %q", expression, err, p.Problems())
		}
	}
}

// NoScripts has the page run no scripts from now on.
func (p *Page) NoScripts() {
	p.tb.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.check(err)
}

// Dark has the page shown as to somebody who prefers dark ones.
func (p *Page) Dark() {
	p.tb.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	p.check(err)
}

// Shown counts the elements that take room on the page. It needs no scripts.
func (p *Page) Shown(selector string) (n int) {
	p.tb.Helper()
	found, err := chromedp.Run(p.ctx, chromedp.QueryNodeIDs(chromedp.CSSAll(selector), chromedp.AtLeast(0)))
	p.check(err)
	for _, id := range found {
		box, err := chromedp.Call(p.ctx, dom.GetBoxModel, dom.GetBoxModelParams{NodeID: id})
		if err == nil && box.Model.Width > 0 && box.Model.Height > 0 { // there is an error for what is not laid out
			n++
		}
	}
	return n
}

// Picture returns what is to be seen of the page, as PNG.
func (p *Page) Picture() []byte {
	p.tb.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	p.check(err)
	return picture
}
