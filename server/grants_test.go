package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/ledger"
)

// grants posts a grant or a withdrawal, and returns what is granted of the data set and of lee.
func (s *site) grants(status int, what, body string) (whole, lee float64) {
	s.t.Helper()
	d := s.wants(status, "kim", "POST", "/datasets/people/"+what, body)
	if status >= 400 {
		return 0, 0
	}
	for _, a := range d["custodian"].(map[string]any)["analysts"].([]any) {
		if share := a.(map[string]any); share["analyst"] == "lee" {
			lee = share["granted"].(map[string]any)["epsilon"].(float64)
		}
	}
	return d["granted"].(map[string]any)["epsilon"].(float64), lee
}

// What a careless custodian grants is refused, and nothing of it is granted: to somebody whom the
// server does not know, so much that it promises next to nothing, or more than the total.
func TestCarelessGrants(t *testing.T) {
	s := opened(t)
	table := s.table(2000)
	for _, total := range []string{`"epsilon": 21, "delta": 1e-5`, `"epsilon": 1, "delta": 5e-4`} {
		s.wants(422, "kim", "POST", "/datasets", fmt.Sprintf(`{"name": "loose", "input": %q, "columns": ["age", "bmi"], %s}`, table, total))
	}
	s.register("people", table, `, "epsilon": 5, "delta": 1e-5`)
	before := s.wants(200, "kim", "GET", "/datasets/people", "")
	for body, says := range map[string]string{
		`{"analyst": "leo", "epsilon": 1, "delta": 1e-6}`:                 "a person whom the server knows",
		`{"analyst": "leo", "epsilon": 1, "delta": 1e-6, "force": true}`:  "a person whom the server knows",
		`{"analyst": "pat", "epsilon": 1, "delta": 1e-6}`:                 "of the role analyst",
		`{"analyst": "max", "epsilon": 5.1, "delta": 1e-6}`:               "no more than the total",
		`{"analyst": "max", "epsilon": 50, "delta": 1e-6, "force": true}`: "no more than the total",
		`{"analyst": "lee", "epsilon": 3.5, "delta": 1e-6}`:               "no more than the total", // he has 2
		`{"analyst": "max", "epsilon": 1, "delta": 2e-5}`:                 "no more than the total",
		`{"epsilon": 15.1, "delta": 1e-6}`:                                "a total of at most 20",
		`{"epsilon": 1, "delta": 5e-4}`:                                   "a total below 1/2000",
	} {
		if p := s.wants(422, "kim", "POST", "/datasets/people/grants", body); !strings.Contains(fmt.Sprint(p["wanted"]), says) || p["hint"] == "" {
			t.Errorf("%s: %v, want %q", body, p, says)
		}
	}
	if after := s.wants(200, "kim", "GET", "/datasets/people", ""); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("something was granted: %v, after %v", after, before)
	}
	if whole, _ := s.grants(201, "grants", `{"epsilon": 15.1, "delta": 1e-6, "force": true}`); whole < 20 {
		t.Errorf("forced: %v", whole)
	}
}

// Where no total is stated grants add up: that is shown before it is taken, and ends at 20.
func TestGrantsAddUpInSight(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(2000), "") // and 2 for lee
	for range 2 {
		if whole, lee := s.grants(200, "grants", `{"analyst": "lee", "epsilon": 3, "delta": 1e-6, "preview": true}`); whole != 5 || lee != 5 {
			t.Errorf("a preview: %v in all, %v for lee", whole, lee)
		}
	}
	if whole, _ := s.grants(201, "grants", `{"analyst": "max", "epsilon": 3, "delta": 1e-6}`); whole != 5 {
		t.Errorf("%v in all", whole)
	}
	granted := 1
	for ; granted < 100; granted++ {
		if status, _ := s.send("kim", "POST", "/api/v1/datasets/people/grants", `{"analyst": "max", "epsilon": 2, "delta": 1e-6}`); status != 201 {
			break
		}
	}
	if granted != 8 { // 5 and 7 times 2 are 19
		t.Errorf("%d grants were taken", granted)
	}
	if whole, lee := s.grants(200, "withdrawals", `{"analyst": "lee", "preview": true}`); whole != 17 || lee != 0 {
		t.Errorf("a withdrawal's preview: %v in all, %v for lee", whole, lee)
	}
	if whole, lee := s.grants(200, "withdrawals", `{"analyst": "lee", "epsilon": 0.5}`); whole != 18.5 || lee != 1.5 {
		t.Errorf("a part: %v in all, %v for lee", whole, lee)
	}
	s.grants(422, "withdrawals", `{"analyst": "leo"}`)
	s.grants(422, "withdrawals", `{}`) // no total was stated
	s.grants(409, "withdrawals", `{"analyst": "lee", "epsilon": 1.6}`)
	if status, _ := s.send("pat", "POST", "/api/v1/datasets/people/withdrawals", `{"analyst": "lee"}`); status != 404 {
		t.Errorf("another custodian's: status %d", status)
	}
	if status, _ := s.send("lee", "POST", "/api/v1/datasets/people/withdrawals", `{"analyst": "lee"}`); status != 403 {
		t.Errorf("an analyst's: status %d", status)
	}
}

// What an analyst has not spent can be withdrawn, and then not be spent; refusals tell analysts in
// epsilon and delta what they can do, and what is spent is stated at the granted delta, within it.
func TestWithdrawnAndRefused(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(2000), `, "epsilon": 5, "delta": 1e-5`)
	ask := `{"dataset": "people", "epsilon": %g, "delta": 1e-7, "components": 1}`
	for range 2 {
		s.ended("lee", s.wants(202, "lee", "POST", "/fits", fmt.Sprintf(ask, .5))["id"].(string))
	}
	refused := s.wants(409, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 1.99, "delta": 9e-6, "components": 1}`)
	text := fmt.Sprint(refused["detail"], refused["hint"])
	if strings.Contains(text, "mu") || strings.Contains(text, "ledger") || !strings.Contains(text, "epsilon = ") || !strings.Contains(text, "one more fit may ask for epsilon = ") {
		t.Errorf("a refusal: %v", refused)
	}
	_, may, _ := strings.Cut(text, "one more fit may ask for epsilon = ")
	var most, delta float64
	if _, err := fmt.Sscanf(may, "%g at delta = %g", &most, &delta); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	may = fmt.Sprintf(`{"dataset": "people", "epsilon": %g, "delta": %g, "components": 1}`, most, delta)
	waits := s.wants(202, "lee", "POST", "/fits", may)["id"].(string)
	s.wants(409, "lee", "POST", "/fits", may)
	s.ended("lee", waits)
	s.grants(201, "grants", `{"analyst": "lee", "epsilon": 2.5, "delta": 1e-300}`)
	if whole, lee := s.grants(200, "withdrawals", `{"analyst": "lee"}`); whole != 5 || lee > 2.01 || lee < 1.5 {
		t.Errorf("lee has %v, of which about 2 is spent, all have %v", lee, whole)
	}
	d := s.wants(200, "lee", "GET", "/datasets/people", "")
	granted, spent := d["granted"].(map[string]any), d["spent"].(map[string]any)
	if spent["delta"] != granted["delta"] || spent["epsilon"].(float64) > granted["epsilon"].(float64) {
		t.Errorf("granted %v, spent %v", granted, spent)
	}
	s.wants(409, "lee", "POST", "/fits", fmt.Sprintf(ask, .3))
	if _, err := s.server.store.Ledger().Verify(t.Context(), ledger.Head{}); err != nil {
		t.Error(err)
	}
}
