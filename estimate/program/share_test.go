package program

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
)

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// TestShareFallsWithRows: more rows, or a larger mu, never need a larger share; the extremes are
// leastPart and mostShare.
func TestShareFallsWithRows(t *testing.T) {
	for _, rel := range relations {
		for _, d := range []int{1, 2, 7, 60, 1000} {
			last, least, most := math.Inf(1), math.Inf(1), 0.0
			wasSharp := false
			for rows := 1.0; rows < 1e13; rows *= 1.07 {
				p := estimate.Problem{Relation: rel, Mu: .2361}
				share, sharp := Share(p, d, rows)
				if share > last*(1+1e-9) || wasSharp && !sharp {
					t.Fatalf("%v d = %d rows = %v: share %v after %v, sharp %v after %v", rel, d, rows, share, last, sharp, wasSharp)
				}
				p.Mu *= 2
				if more, _ := Share(p, d, rows); more > share*(1+1e-9) {
					t.Fatalf("%v d = %d rows = %v: twice the mu needs %v instead of %v", rel, d, rows, more, share)
				}
				last, wasSharp = share, sharp
				least, most = math.Min(least, share), math.Max(most, share)
			}
			if least != leastPart || math.Abs(most/mostShare-1) > 1e-9 || !wasSharp {
				t.Errorf("%v d = %d: shares from %v to %v, at last sharp %v", rel, d, least, most, wasSharp)
			}
		}
	}
}

// TestSharp: sharp says that stage 0's own public check holds at the share, and is false only where
// it fails at the largest share too; hopeless rows give a share that is still in range.
func TestSharp(t *testing.T) {
	for _, rel := range relations {
		for _, d := range []int{1, 3, 12, 100} {
			for _, mu := range []float64{1e-6, .05, .2361, 3, 1e4} {
				for _, rows := range []float64{-1e9, -3, 0, 1e-3, .5, 1, 2, 9, 57, 400, 1111, 5e3, 3e4, 1e7, 1e15} {
					p := estimate.Problem{Relation: rel, Mu: mu}
					share, sharp := Share(p, d, rows)
					if !(share >= leastPart && share <= mostShare*(1+2e-10)) {
						t.Fatalf("%v d = %d mu = %v rows = %v: share %v", rel, d, mu, rows, share)
					}
					if got := columns.SharpEnough(rel, d, rows, ofCenters*share*(mu*mu)); got != sharp {
						t.Errorf("%v d = %d mu = %v rows = %v: sharp %v, stage 0 says %v", rel, d, mu, rows, sharp, got)
					}
					if !sharp && rows >= 1 && columns.SharpEnough(rel, d, rows, ofCenters*mostShare*mu*mu*(1-1e-9)) {
						t.Errorf("%v d = %d mu = %v rows = %v: not sharp at %v, but it is at %v", rel, d, mu, rows, share, mostShare)
					}
				}
			}
		}
	}
}

// TestStepsHoldConfig: what Config spends is within the shares of Steps, for every share that Share
// gives, as the kernel compares them.
func TestStepsHoldConfig(t *testing.T) {
	const weak, slop = .08, 1 + 1e-9
	steps := Steps(estimate.Problem{}, "u: ", weak)
	if err := (kernel.Plan{Method: "units", Steps: steps}).Validate(); err != nil {
		t.Fatal(err)
	}
	byName := map[string]float64{}
	for _, s := range steps {
		byName[s.Name] = s.Share
	}
	for _, share := range []float64{leastPart, mostPart, mostShare * (1 + 1e-10)} {
		for _, mu2 := range []float64{1e-9, .05, 1e6} {
			c := Config("u: ", share, weak, mu2)
			if c.Prefix != "u: " || c.CenterMu2 > byName["u: center"]*mu2*slop || c.WeakMu2 > byName["u: weak scale"]*mu2 ||
				c.ScaleMu2 > (byName["u: varied"]+byName["u: scale"])*mu2*slop {
				t.Errorf("share %v of %v: %+v does not fit %v", share, mu2, c, byName)
			}
			if sum := c.CenterMu2 + c.ScaleMu2; math.Abs(sum/(share*mu2)-1) > 1e-12 || math.Abs(c.WeakMu2/(weak*mu2)-1) > 1e-8 {
				t.Errorf("share %v of %v: %+v", share, mu2, c)
			}
		}
	}
}

func TestOneUnit(t *testing.T) {
	near, far := []float64{1, 256, 4}, []float64{1, 512, 4}
	for _, c := range []struct {
		scale []float64
		shape estimate.CovarianceType
		want  []float64
	}{
		{near, estimate.Full, []float64{256, 256, 256}}, {far, estimate.Full, far}, {far, estimate.Diagonal, far},
		{far, estimate.Spherical, []float64{512, 512, 512}}, {[]float64{3}, estimate.Full, []float64{3}},
	} {
		was := slices.Clone(c.scale)
		s := component.Space{Columns: make([]int, len(was)), Center: make([]float64, len(was)), Scale: c.scale}
		if got := OneUnit(s, c.shape).Scale; !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: got %v, want %v", was, c.shape, got, c.want)
		}
		if !slices.Equal(c.scale, was) {
			t.Errorf("%v: the caller's scales became %v", was, c.scale)
		}
	}
}
