package aal21

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/literal/paper"
)

// A ListDecoder is a private list-decodable learner of a class of Gaussians: of rows most of which
// are anything, it releases a list, one of which is close to the Gaussian that the others are from.
// Whatever is one makes mixtures of its class learnable, see NewLearner; the instances of this
// package are those of the source, AxisAligned and Known, and General.
//
// Privacy: it asks the rows through the sample's sub-budget only, and spends at most Mu2 of it,
// which the kernel holds it to. What it returns is a function of the answers and of public facts.
//
// Source: [AAL21] Definition 2.13; Definition 2.8.
type ListDecoder interface {
	// Steps are its lines of the plan for a share of mu^2.
	Steps(p estimate.Problem, share float64) []kernel.Step
	// Rows is about how many rows the analysis asks for to list components of weight w for mu2, and
	// below how many none can be listed.
	Rows(p estimate.Problem, w, mu2 float64) (enough, least float64)
	// Shortest is about the shortest list that it has for a table of such components; Plan refuses
	// what cannot be enumerated even with it.
	Shortest(p estimate.Problem) List
	// Decode returns the list.
	Decode(s Sample) (List, error)
}

// A Sample is what a ListDecoder works on.
type Sample struct {
	SubBudget *kernel.SubBudget
	Mu2       float64 // what it may spend
	Rows      float64 // n, public or released
	// Problem is what is known publicly; a component of LeastWeight, 1-gamma, or more is to be
	// listed.
	Problem     estimate.Problem
	LeastWeight float64
}

// A List is a finite list of rough Gaussians, and the nets over it that are as fine as asked.
type List interface {
	// Step is that of a net with a member within total variation alpha of whatever the list holds
	// roughly.
	Step(alpha float64) float64
	// Size is the number of Gaussians in the net of a step, or more where that is beyond a million;
	// 0 is FAIL.
	Size(step float64) float64
	// Net is that net. It is asked only for nets that are small enough.
	Net(step float64) []paper.Gaussian
	// Moves are the ways in which a Gaussian that was chosen is made finer, within the class.
	Moves() []paper.Move
}
