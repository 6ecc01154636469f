package fit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// What flags ask for, a server reads as the same request: flags, JSON and gauze.Request know each
// setting.
func TestOneRequest(t *testing.T) {
	set, r := pflag.NewFlagSet("fit", pflag.ContinueOnError), &Request{}
	r.Register(set)
	given := map[string]string{
		"epsilon": "2", "delta": "1e-7", "relation": "add-remove-one", "components": "3", "max-components": "4", "method": "black-box", "covariance": "diagonal",
		"constants": "practical", "learner": "em", "trim": "0.1", "mean-within": "0", "eigenvalues-within": "0.5, 9", "moments": "4", "moment-bound": "3", "least-weight": "0.2", "by": "sex",
	}
	for name, value := range given {
		if err := set.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	want, err := r.Parse()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := r.Settings()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	var sent gauze.Settings
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	if got, err := sent.Request(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is the request %+v, %v; want %+v", text, got, err, want)
	}
	for _, name := range gauze.SettingNames() {
		if !slices.Contains([]string{"dataset", "rows", "dim", "columns", "title", "rho", "typical_sd"}, name) && !strings.Contains(string(text), `"`+name+`":`) {
			t.Errorf("%s: no flag sets it", name)
		}
	}
}

// Words of which no flag is given are a server's to choose.
func TestUnsaidSettings(t *testing.T) {
	set, r := pflag.NewFlagSet("fit", pflag.ContinueOnError), &Request{}
	r.Register(set)
	if err := set.Parse([]string{"--epsilon", "1", "--delta", "1e-6"}); err != nil {
		t.Fatal(err)
	}
	settings, err := r.Settings()
	if text, _ := json.Marshal(settings); err != nil || string(text) != `{"epsilon":1,"delta":0.000001}` {
		t.Errorf("%s, %v", text, err)
	}
}

// A fault of a setting is worded as the flag on the command line.
func TestFaultsNameFlags(t *testing.T) {
	for name, value := range map[string]string{"max-components": "0", "mean-within": "-1", "eigenvalues-within": "3,2", "moments": "3", "least-weight": "2", "trim": "7", "covariance": "ful"} {
		set, r := pflag.NewFlagSet("fit", pflag.ContinueOnError), &Request{}
		r.Register(set)
		if err := set.Parse([]string{"--epsilon", "1", "--delta", "1e-6", "--" + name, value}); err != nil {
			t.Fatal(err)
		}
		_, err := r.Parse()
		if said := shell.Message(err); !strings.Contains(said, "--"+name+": wanted") {
			t.Errorf("%q", said)
		}
	}
}
