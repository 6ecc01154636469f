package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/server/service"
)

// files are the files that pages load.
//
//go:embed static
var files embed.FS

var functions = fill.Funcs{
	"number": number, "digits": digits, "time": moment, "budget": budgetOf, "file": file, "state": state, "link": linkOf, "heading": heading,
	"utc": func(shown string) string { return strings.Replace(shown, " ", "T", 1) + "Z" }, "picked": picked, "headline": headline, "sentence": sentence,
	"seconds":  func(d time.Duration) string { return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds())) },
	"rows":     func(x float64) string { return digits(int(x)) },
	"purposes": (*service.Plan).Purposes,
	"percent":  func(x float64) string { return number(100*x, 3) + " %" }, "distance": func(d model.Distance) string { return number(float64(d), 3) },
	"whynotadd": func() string { return ledger.WhyNotAdd }, "next": func(i int) int { return i + 1 }, "IsZero": time.Time.IsZero,
}

// exact is the number of digits that distinguishes all float64.
const exact = 17

// number returns a number with at most most digits.
func number(x float64, most int) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case most == exact:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(round(x, most), 'g', -1, 64)
}

// round rounds a number to that many digits.
func round(x float64, most int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', most-1, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// short returns a number on an axis.
func short(x float64) string {
	switch {
	case x >= 1e6:
		return number(x/1e6, 3) + "M"
	case x >= 1e4:
		return number(x/1e3, 3) + "k"
	}
	return number(x, 3)
}

// digits returns a count with commas between thousands; n may be a pointer.
func digits(n any) string {
	count := 0
	switch n := n.(type) {
	case int:
		count = n
	case *int:
		count = *n
	}
	text := strconv.Itoa(count)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// moment returns a time as a page shows it: in UTC, which all people of a server share.
func moment(stamp any) string {
	text := ""
	switch t := stamp.(type) {
	case string:
		text = t
	case interface{ Format(string) string }:
		text = t.Format("2006-01-02T15:04:05Z")
	}
	if len(text) < len("2006-01-02T15:04:05") || strings.HasPrefix(text, "0001-") {
		return "–"
	}
	return strings.Replace(text[:len("2006-01-02T15:04:05")], "T", " ", 1)
}

// A budgetView is what is left of a budget.
type budgetView struct {
	Left                    float64 // percent
	Width                   int     // width of the bar, of 200
	Most, Granted           string  // epsilon
	Delta, SpentOf          string
	None                    bool // nothing was granted
	Whose, Before, Sentence string
}

// barWidth is the width of a bar's picture.
const barWidth = 200

// budgetOf returns what is left. Fits compose in squares of mu, if that is how they are counted, so
// the bar shows those: a fit takes away the same width whenever it is requested.
func budgetOf(whose string, granted ledger.Amount, spent, left ledger.Spending) budgetView {
	if granted.Epsilon == 0 {
		return budgetView{None: true, Whose: whose}
	}
	share := left.Epsilon / granted.Epsilon
	if spent.Epsilon == 0 {
		share = 1
	} else if a, b := spent.Mu*spent.Mu, left.Mu*left.Mu; a > 0 && b > 0 {
		share = b / (a + b)
	}
	share = min(1, max(0, share))
	out := budgetView{Left: math.Round(100 * share), Width: int(math.Round(barWidth * share)), Whose: whose,
		Most: number(math.Floor(1e3*left.Epsilon)/1e3, 4), Granted: number(granted.Epsilon, 4), Delta: number(granted.Delta, 3), SpentOf: number(spent.Epsilon, 4)}
	out.Sentence = fmt.Sprintf("%s: %g %% left, up to ε %s of %s", whose, out.Left, out.Most, out.Granted)
	return out
}

// file returns the address of a file that pages load, which changes with its content.
func file(name string) (string, error) {
	body, err := files.ReadFile("static/" + name)
	sum := sha256.Sum256(body)
	return "/static/" + name + "?" + hex.EncodeToString(sum[:6]), err
}

// state returns a fit's state in words.
func state(s string) string {
	return map[string]string{"queued": "waits", "running": "runs", "released": "released", "no-release": "no release", "failed": "failed"}[s]
}

// A link is one link of the pages' header; Here marks the open page, and what it is below.
type link struct {
	To, Name string
	Here     bool
}

func linkOf(path, to, name string) link {
	return link{to, name, path == to || strings.HasPrefix(path, to+"/")}
}

// heading returns a problem's status in words, for the sender of a form.
func heading(p *service.Problem) string {
	switch p.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "Something has to be fixed"
	case http.StatusUnauthorized:
		return "That did not let you in"
	case http.StatusConflict:
		return "It was refused"
	case http.StatusTooManyRequests:
		return "Not now"
	case http.StatusForbidden:
		return "Not for you"
	}
	return p.Title
}

// saidOf returns the faults of a problem that no field of a form shows; all of them if there is no
// form.
func saidOf(p *service.Problem, f *form) []service.Fault {
	if f != nil {
		return f.Faults
	}
	if p == nil || p.Field == "" {
		return nil
	}
	return []service.Fault{p.Fault}
}

// picked counts the options that are chosen.
func picked(all []option) (n int) {
	for _, one := range all {
		if one.Chosen {
			n++
		}
	}
	return n
}

// sentence makes a sentence of a constant text: with a capital, and a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.ContainsAny(text[len(text)-1:], ".?!") {
		return text
	}
	return text + "."
}

// headline returns what to expect of a plan, in a sentence.
func headline(p *service.Plan) string {
	switch e := p.Expect; {
	case e.CovarianceError > 0 && p.LowerBound != nil:
		return fmt.Sprintf("Expect an error of the covariance of about %s, %s times as large as without privacy, and of the mean of about %s; no method promises a root mean square below %s on every Gaussian.",
			number(e.CovarianceError, 2), number(e.RelativeError, 2), number(e.MeanError, 2), number(p.LowerBound.Covariance, 2))
	case len(p.Mixtures) > 0 && p.Mixtures[0].TotalVariation > 0:
		m := p.Mixtures[0]
		return fmt.Sprintf("Expect a total variation of about %s from the truth on %d groups %g standard deviations apart, %s without privacy.",
			number(m.TotalVariation, 2), m.Components, m.Separation, number(m.Plain, 2))
	case p.Method == gauze.MethodProfile:
		return fmt.Sprintf("Table one: missing cells, quantiles, mean and sd of each column, each with its noise. A column needs about %s values; one with fewer is held out by name.", digits(int(e.RowsNeeded)))
	case e.RowsNeeded > 0:
		return fmt.Sprintf("About %s rows are needed; no error was measured for such a fit.", digits(int(e.RowsNeeded)))
	}
	return "No error was measured for such a fit: what it ends in may be far off."
}
