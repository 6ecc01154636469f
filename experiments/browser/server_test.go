package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A served is a server of a test's own, and a browser.
type served struct {
	t       *testing.T
	ctx     context.Context
	address string
	folder  string
	tokens  map[string]string
}

// serve builds the program, makes tokens, and starts its server.
func serve(t *testing.T) *served {
	t.Helper()
	s := &served{t: t, ctx: open(t), folder: t.TempDir(), tokens: map[string]string{}}
	program, database := filepath.Join(s.folder, "gauze"), filepath.Join(s.folder, "gauze.db")
	build := exec.Command("go", "build", "-o", program, "./cmd/gauze")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, role := range map[string]string{"kim": "custodian", "lee": "analyst", "new": "analyst"} {
		out, err := exec.Command(program, "serve", "token", "add", "--database", database, "--role", role, "--name", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = strings.TrimSpace(string(out))
	}
	run := exec.Command(program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--slot", "2s", "--slot-per-cell", "1us")
	notes, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Signal(syscall.SIGTERM)
		run.Wait()
	})
	lines := bufio.NewScanner(notes)
	if !lines.Scan() {
		t.Fatal("the server does not start")
	}
	var first struct{ URL string }
	if err := json.Unmarshal(lines.Bytes(), &first); err != nil || first.URL == "" {
		t.Fatalf("%s: %v", lines.Text(), err)
	}
	s.address = first.URL
	go func() {
		for lines.Scan() {
		}
	}()
	return s
}

// table writes a table of so many columns, and returns its path.
func (s *served) table(name string, rows int, columns ...string) string {
	s.t.Helper()
	var b strings.Builder
	b.WriteString(strings.Join(columns, ",") + "\n")
	for range rows {
		for i := range columns {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%.1f", 50+10*rand.NormFloat64())
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(s.folder, "data", "kim", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(b.String()), 0o600)); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// do does something in the browser.
func (s *served) do(actions ...chromedp.Action) {
	s.t.Helper()
	if err := chromedp.Run(s.ctx, actions...); err != nil {
		s.t.Fatal(err)
	}
}

// send fills the fields of a form, names and values in turn, and clicks on what sends it.
func (s *served) send(button string, fields ...string) {
	s.t.Helper()
	for i := 0; i < len(fields); i += 2 {
		s.do(chromedp.SetValue("#f-"+fields[i], fields[i+1], chromedp.ByQuery))
	}
	if _, err := chromedp.RunResponse(s.ctx, chromedp.Click(button, chromedp.ByQuery)); err != nil {
		s.t.Fatal(err)
	}
}

// at opens a page, and checks it.
func (s *served) at(path string) {
	s.t.Helper()
	s.do(chromedp.Navigate(s.address + path))
	accessible(s.t, s.ctx)
}

// as signs somebody in.
func (s *served) as(name string) {
	s.t.Helper()
	s.do(chromedp.Navigate(s.address + "/sign-in"))
	if signedIn := ""; chromedp.Run(s.ctx, chromedp.Location(&signedIn)) == nil && !strings.HasSuffix(signedIn, "/sign-in") {
		s.send(".out button")
	}
	s.send("button.main", "token", s.tokens[name])
}

// says reports a page that does not say something.
func (s *served) says(wanted ...string) {
	s.t.Helper()
	text := ""
	s.do(chromedp.Text("body", &text, chromedp.ByQuery))
	for _, one := range wanted {
		if !strings.Contains(text, one) {
			s.t.Errorf("the page does not say %q:\n%s", one, text)
		}
	}
}

// bar is how wide the bar of a budget is.
func (s *served) bar() (width string) {
	s.t.Helper()
	s.do(chromedp.AttributeValue(".budget .bar .left", "width", &width, nil, chromedp.ByQuery))
	return width
}

// pictures looks at pages on a phone and on a desk, in the light and in the dark: none is wider
// than its window. With GAUZE_PICTURES set to a folder it keeps what it sees.
func (s *served) pictures(name, path string) {
	s.t.Helper()
	for _, width := range []int64{375, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			var inner int64
			s.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.EmulateViewport(width, 900), chromedp.Navigate(s.address+path), chromedp.Evaluate("document.documentElement.scrollWidth", &inner))
			if inner > width {
				s.t.Errorf("%s is %d wide in a window of %d", path, inner, width)
			}
			accessible(s.t, s.ctx)
			if os.Getenv("GAUZE_PICTURES") != "" {
				var picture []byte
				s.do(chromedp.FullScreenshot(&picture, 100))
				s.keep(fmt.Sprintf("%s-%d-%s", name, width, scheme), picture)
			}
		}
	}
}

// TestServer is the whole story on pages: a custodian registers a data set and grants a budget; an
// analyst plans, fits, waits for the slot and reads the report; the bar has moved, and a fit that
// is too much is refused. Every page is looked at in four ways, the empty ones too.
func TestServer(t *testing.T) {
	s := serve(t)
	people := s.table("people.csv", 5000, "age", "bmi")
	wide := []string{"<script>alert(1)</script>", "Größe in Zentimetern, wie der Hausarzt sie zuletzt gemessen hat", "שם", "体重"}
	for i := len(wide); i < 200; i++ {
		wide = append(wide, fmt.Sprintf("a_column_whose_name_has_no_place_to_break_%d", i))
	}
	s.pictures("sign-in", "/sign-in")
	s.as("new")
	for _, page := range []string{"datasets", "plan", "fits", "releases", "compare", "people", "nothing"} {
		s.pictures("empty-"+page, "/"+page)
	}
	s.as("kim")
	s.pictures("empty-custodian", "/datasets")
	s.at("/register")
	s.send("button[value=preview]", "name", "people", "title", "Everybody <b>here</b>", "input", people, "schema", "age\nbmi")
	s.says("What analysts would see", "age")
	accessible(t, s.ctx)
	s.send("button[value=register]", "input", "nowhere.csv")
	s.says("Wanted", "nowhere.csv")
	accessible(t, s.ctx)
	s.send("button[value=register]", "input", people)
	s.says("is registered", "What was read", "Everybody <b>here</b>")
	accessible(t, s.ctx)
	s.send("form.panel button.main", "analyst", "lee", "epsilon", "2x", "delta", "1e-5")
	s.says(`got "2x"`)
	accessible(t, s.ctx)
	s.send("form.panel button.main", "epsilon", "2")
	s.says("Nothing is granted yet", "lee", "would have ε 2")
	accessible(t, s.ctx)
	s.send("button[value=grant]")
	s.says("The grant was added", "lee", "Withdraw what is unspent")
	s.at("/register")
	s.send("button[value=register]", "name", "wide", "input", s.table("wide.csv", 300, quoted(wide)...), "schema", strings.Join(wide, "\n"), "relation", "add-remove-one", "capacity", "1000")
	s.send("form.panel button.main", "analyst", "lee", "epsilon", "1")
	s.send("button[value=grant]")
	s.pictures("custodian-dataset", "/datasets/people")
	s.pictures("custodian-wide", "/datasets/wide")
	s.pictures("register", "/register")

	s.as("lee")
	s.pictures("datasets", "/datasets")
	s.pictures("dataset", "/datasets/people")
	s.at("/datasets/people")
	full := s.bar()
	s.pictures("plan-wide", "/plan?dataset=wide")
	s.pictures("plan-mixture", "/plan?dataset=people&components=3")
	s.pictures("plan", "/plan?dataset=people&components=1")
	s.redraws()
	id := s.fits()
	s.pictures("fit", "/fits/"+id)
	s.report(id)
	s.at("/datasets/people")
	if left := s.bar(); left == full || full != "200" {
		t.Errorf("the bar was %s wide and is %s", full, left)
	}
	s.at("/plan?dataset=people&components=1&epsilon=1.9")
	s.send("#result button.main")
	s.says("It was refused", "budget has not enough left")
	accessible(t, s.ctx)
	s.at("/plan?dataset=people&components=1&epsilon=0.5")
	s.send("#result button.main")
	s.do(chromedp.Poll(`document.querySelector("a[href$='/report']") !== null`, nil, chromedp.WithPollingTimeout(time.Minute)))
	s.pictures("fits", "/fits")
	s.pictures("releases", "/releases")
	s.at("/compare")
	s.send("main button.main")
	s.says("Total variation")
	var compared string
	s.do(chromedp.Location(&compared))
	s.pictures("compare", strings.TrimPrefix(compared, s.address))
	s.pictures("wrong", "/plan?dataset=people&epsilon=-1&components=zero")
	s.as("kim")
	s.pictures("custodian-spent", "/datasets/people")
	s.pictures("people", "/people")
	s.pictures("log", "/log")
}

// report opens a release's report, which may run no script: what is on it TestReport looks at.
func (s *served) report(id string) {
	s.t.Helper()
	var page []byte
	s.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}),
		chromedp.Navigate(s.address+"/releases/"+id+"/report"), chromedp.Sleep(time.Second), chromedp.CaptureScreenshot(&page))
	s.keep("report-1280-light", page)
}

// keep keeps a picture, where GAUZE_PICTURES names a folder.
func (s *served) keep(name string, picture []byte) {
	s.t.Helper()
	if folder := os.Getenv("GAUZE_PICTURES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// quoted are names as CSV has them.
func quoted(names []string) (out []string) {
	for _, name := range names {
		out = append(out, `"`+name+`"`)
	}
	return out
}

// redraws: the script redraws the plan that is open as its epsilon changes, and says so.
func (s *served) redraws() {
	s.t.Helper()
	before, after := "", ""
	s.do(chromedp.Text("#headline", &before, chromedp.ByQuery), chromedp.SetValue("#f-epsilon", "0.5", chromedp.ByQuery),
		chromedp.Evaluate(`document.getElementById("f-epsilon").dispatchEvent(new Event("input", {bubbles: true}))`, nil),
		chromedp.Poll(`document.getElementById("spoken").textContent !== ""`, nil, chromedp.WithPollingTimeout(10*time.Second)),
		chromedp.Text("#headline", &after, chromedp.ByQuery))
	if before == after || !strings.Contains(after, "Expect an error") {
		s.t.Errorf("the plan was %q and is %q", before, after)
	}
	accessible(s.t, s.ctx)
}

// fits asks for the fit that is planned, and waits on its page until it shows what it ended in.
func (s *served) fits() (id string) {
	s.t.Helper()
	s.at("/plan?dataset=people&components=1")
	s.send("#result button.main")
	s.do(chromedp.Location(&id))
	accessible(s.t, s.ctx)
	s.do(chromedp.Poll(`document.querySelector("a[href$='/report']") !== null`, nil, chromedp.WithPollingTimeout(time.Minute)))
	s.says("It was released")
	return id[strings.LastIndex(id, "/")+1:]
}
