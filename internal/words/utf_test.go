package words

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAll(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "größe": "größe", "caf\xe9": "caf\xe9", "\ufeff": "", "\ufeffaü": "aü", "\ufeff\ufeffa": "\ufeffa",
		"\xff\xfe": "", "\xff\xfea\x00\xfc\x00": "aü", "\xfe\xff\x00a\x00\xfc": "aü", "\xff\xfe=\xd8\x00\xde": "\U0001f600", "\xff\xfea": "\ufffd",
	} {
		if got, err := ReadAll(iotest.OneByteReader(strings.NewReader(in))); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadAll(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
