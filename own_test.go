package gauze

import (
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// TestOwnIsAnException: a method's name that begins with "own:" is no fault, is an exception, and
// is not planned again; nor does it pass for a method of the catalogue.
func TestOwnIsAnException(t *testing.T) {
	for _, c := range []struct {
		method string
		own    bool
	}{{"own:histogram", true}, {"sorcery", false}} {
		v := Verify(&release.Release{Certificate: release.Certificate{Method: c.method}})
		unknown := false
		for _, fault := range v.Faults {
			unknown = unknown || strings.Contains(fault.Error(), "gauze papers")
		}
		if unknown == c.own || strings.Contains(strings.Join(v.Exceptions, ""), "is not part of Gauze") != c.own || v.Replanned {
			t.Errorf("%s: %+v", c.method, v)
		}
	}
	for _, name := range Methods().Names() {
		if isOwn(name) {
			t.Errorf("%s is a method of Gauze", name)
		}
	}
}
