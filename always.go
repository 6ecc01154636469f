package gauze

import "github.com/gauze-dp/gauze/estimate/profile"

// lastOfOne holds the last releases of a fit of one Gaussian, of which one is measured: the shape
// of the rows, or missing cells, decide which.
const lastOfOne = "moments|column moments|round column moments|partial column moments"

// lastOfOneIn is the same where that fit is part of another.
const lastOfOneIn = "one: moments|one: column moments|one: round column moments|one: partial column moments"

// always holds the steps that every fit of a method measures if its model has any spread, each with
// its alternatives. Steps that depend on answers are not among them. A step that the request's plan
// does not have is not required.
var always = map[string][]string{
	"gaussian":                   {profile.BesideFirst, "count", lastOfOne + "|" + profile.StepRest},
	"heavy-tailed":               {profile.BesideFirst, "count", lastOfOne + "|" + profile.StepRest},
	"gaussian:coinpress":         {"count", "covariance"},
	"univariate:kv18":            {"count", "scale", "place", "moments"},
	"heavy-tailed:paper":         {"rows", "covariance"},
	"gaussian:kmssu22":           {"rows", "eigenvalues", "final: moments"},
	"general":                    {profile.BesideFirst, "count|one: count", "last round|" + lastOfOneIn + "|" + profile.StepRest},
	"separated":                  {profile.BesideFirst, "count|one: count", "last round|" + lastOfOneIn + "|" + profile.StepRest},
	"univariate":                 {"count", "shapes"},
	"axis-aligned":               {"count", "last round|looks|" + lastOfOneIn},
	"black-box":                  {"count", "agreement of blocks", "last round"},
	"separated:paper":            {"rows", "weights", "components: covariance", "components: mean of a component"},
	"separated:warm-up":          {"rows", "components: about", "components: mean and count", "components: variance"},
	"separated:sample-aggregate": {"count", "ball of estimates: mean", "weights", "means"},
	"univariate:aal21":           {"rows", "scales", "means", "choice"},
	"axis-aligned:aal21":         {"rows", "scales", "means", "choice"},
	"general:aal21":              {"rows", "scales", "means", "choice"},
	"univariate:amn24":           {"rows", "gaps", "mixture", "distance"},
	"general:amn24":              {"rows", "component", "mixture", "distance"},
	"black-box:paper":            {"rows", "popular estimate"},
	"gaussian:ppe-line":          {"rows", "popular number"},
}
