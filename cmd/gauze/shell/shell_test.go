package shell

import (
	"bytes"
	"embed"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// A panic that nothing else has caught says what was spent by then, and not what it was about.
func TestPanicsAreTold(t *testing.T) {
	for _, spent := range []release.Spent{{}, {Epsilon: 1, Delta: 1e-6, Mu: .25, Rho: .03}} {
		var stderr bytes.Buffer
		e := &Env{Ctx: t.Context(), Stderr: &stderr, Spent: spent}
		boom := Command{Use: "boom", Run: func(*Env, []string) error { panic("73519") }}
		p := &Program{Name: "p", Help: embed.FS{}, Commands: []Command{boom}}
		f := failureOf(p.Execute(e, []string{"boom"}))
		f.print(&stderr, true)
		if f.Code != CodeOther || f.Message != "internal error" || f.Spent != spent || strings.Contains(stderr.String(), "73519") {
			t.Errorf("got %+v, %s", f, stderr.String())
		}
	}
}
