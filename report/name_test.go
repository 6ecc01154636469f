package report

import "testing"

func TestShorten(t *testing.T) {
	for _, at := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"体重体重", 3, "体重…"}} {
		if got := shorten(at.in, at.n); got != at.want {
			t.Errorf("shorten(%q, %d): wanted %q, got %q", at.in, at.n, at.want, got)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"a/b-1.json": "a/b-1.json", "-x": "./-x", "a b": "'a b'", "$(rm)": "'$(rm)'", "it's": `'it'\''s'`, "": "''", "x;y": "'x;y'"} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q): wanted %s, got %s", in, want, got)
		}
	}
}
