// Package browser looks at pages of Gauze in a real browser. Its tests skip where there is no
// Chromium; with GAUZE_AXE set to the file axe.min.js of the package axe-core, they also run its
// checks of accessibility.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// open starts a browser, or skips the test.
func open(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("needs Chromium")
	}
	profile, err := os.MkdirTemp("", "gauze-browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) }) // a browser that is still closing may write to it
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(profile))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// demo makes the demonstration, and returns the address of its report.
func demo(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "demo")
	make := exec.Command("go", "run", "./cmd/gauze", "demo", folder)
	make.Dir = "../.."
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return (&url.URL{Scheme: "file", Path: filepath.Join(folder, "report.html")}).String()
}

// TestReport: on a phone and on a desk, in the light and in the dark, a report is no wider than its
// window and breaks no rule of accessibility; it prints on four pages.
func TestReport(t *testing.T) {
	ctx := open(t)
	address := demo(t)
	for _, width := range []int64{375, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d %s", width, scheme), func(t *testing.T) {
				var inner int64
				if err := chromedp.Run(ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.EmulateViewport(width, 900), chromedp.Navigate(address), chromedp.Evaluate("document.documentElement.scrollWidth", &inner)); err != nil {
					t.Fatal(err)
				}
				if inner > width {
					t.Errorf("the page is %d wide", inner)
				}
				accessible(t, ctx)
			})
		}
	}
	var pdf []byte
	if err := chromedp.Run(ctx, chromedp.Navigate(address), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPaperWidth(8.27).WithPaperHeight(11.7).Do(ctx)
		return err
	})); err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1)); n < 1 || n > 4 {
		t.Errorf("it prints on %d pages, want one to four", n)
	}
}

// accessible runs axe-core on the page that is open.
func accessible(t *testing.T, ctx context.Context) {
	t.Helper()
	file := os.Getenv("GAUZE_AXE")
	if file == "" {
		return
	}
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found string
	if err := chromedp.Run(ctx, chromedp.Evaluate(string(script)+";1", nil),
		chromedp.Evaluate(`axe.run().then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.help + " (" + v.nodes.map(n => n.target).join(", ") + ")")))`, &found, chromedp.EvalAsValue,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })); err != nil {
		t.Fatal(err)
	}
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
}
