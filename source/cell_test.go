package source

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestPlainCells: cells are read fast and slowly alike, all of up to five of these characters.
func TestPlainCells(t *testing.T) {
	slow := func(cell string) (float64, Kind) {
		trimmed := strings.TrimSpace(cell)
		if !decimal(trimmed) {
			return 0, word(trimmed)
		}
		v, err := strconv.ParseFloat(trimmed, 64)
		switch {
		case err == nil:
			return v, Number
		case errors.Is(err, strconv.ErrRange):
			return 0, NotFinite
		}
		return 0, NotNumber
	}
	var try func(cell string, more int)
	try = func(cell string, more int) {
		v, kind := ParseCell(cell)
		if want, is := slow(cell); kind != is || math.Float64bits(v) != math.Float64bits(want) {
			t.Errorf("%q: got %v (%v), want %v (%v)", cell, v, kind, want, is)
		}
		for _, c := range "0179.+-eE \x00a" {
			if more > 0 {
				try(cell+string(c), more-1)
			}
		}
	}
	try("", 5)
	for _, digits := range []string{"123456", "12345678", "123456789", "0.1234567890123456", "9007199254740993", "12345678901234567890123", "123456789012345678901234", "1234567890123456789012345"} {
		try(digits, 2)
		try("-"+digits, 2)
	}
}

// TestWordBegins: no word has a first letter that is looked for in vain.
func TestWordBegins(t *testing.T) {
	for w, kind := range wordKinds {
		for _, s := range []string{w, strings.ToUpper(w), strings.ToUpper(w[:1]) + w[1:]} {
			if got := word(s); got != kind {
				t.Errorf("%q: got %v, want %v", s, got, kind)
			}
		}
	}
}
