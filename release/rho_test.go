package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// A release whose budget was asked as rho says nowhere that epsilon or delta is 0; one that an
// earlier version wrote, which did, is read and verified as before; and one of epsilon says both.
func TestRhoIsNotEpsilonZero(t *testing.T) {
	written := func(r *Release) (text string, certificate map[string]any) {
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			t.Fatal(err)
		}
		var all struct{ Certificate map[string]any }
		if err := json.Unmarshal(b.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		return b.String(), all.Certificate
	}
	text, c := written(concentrated(t))
	spent := c["spent"].(map[string]any)
	for _, name := range []string{"epsilon", "delta"} {
		if got, there := c[name]; there {
			t.Errorf("certificate.%s is %v", name, got)
		}
		if got, there := spent[name]; there {
			t.Errorf("certificate.spent.%s is %v", name, got)
		}
	}
	if c["rho"] != 0.1 || !(spent["rho"].(float64) > .09) || !(spent["mu"].(float64) > .4) {
		t.Errorf("asked rho = %v, spent %v", c["rho"], spent)
	}
	old := strings.Replace(text, `"rho": 0.1,`, `"epsilon": 0, "delta": 0, "rho": 0.1,`, 1)
	old = strings.Replace(old, `"spent": {`, `"spent": {"epsilon": 0, "delta": 0,`, 1)
	for name, text := range map[string]string{"written now": text, "written before": old} {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := errors.Join(Verify(r)...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, _ := written(r); again != strings.ReplaceAll(text, `"epsilon": 0, "delta": 0,`, "") && name == "written now" {
			t.Errorf("%s: written again it is another:\n%s", name, again)
		}
	}
	if old == text || strings.Count(old, `"epsilon": 0`) != 2 {
		t.Error("the old form is not one")
	}
	_, c = written(gaussian(t))
	if _, there := c["delta"]; !there || c["epsilon"] == nil || c["spent"].(map[string]any)["delta"] == nil {
		t.Errorf("of a budget in epsilon: %v", c)
	}
}
