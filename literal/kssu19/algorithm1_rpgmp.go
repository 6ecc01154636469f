package kssu19

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
)

// KSSU19 Algorithm 1: RPGMP. The prefixes of its steps; every level of the recursion makes each of
// the five at most once.
const (
	prefixLevel     = "level: "
	prefixAll       = "all rows: "
	prefixBall      = "ball: "
	prefixProjected = "projected: "
	stepPCA         = "pca"
	levelSteps      = 5
)

// rpgmpSteps returns the steps for k components, share of mu^2 for all levels; slack is for the
// thresholds of all.
func rpgmpSteps(k int, share, slack float64) []kernel.Step {
	levels := k - 1
	if levels < 1 {
		return nil
	}
	share /= levelSteps
	slack /= 3
	steps := []kernel.Step{{Name: prefixLevel + stepN, Query: query.PartsOf(query.Count{}.Kind()), Share: share, Most: levels, Source: "KSSU19 Algorithm 1"}}
	steps = append(steps, pglocSteps(prefixAll, share, levels, slack)...)
	steps = append(steps, terrificSteps(prefixBall, share, levels, slack)...)
	steps = append(steps, pcaStep(prefixLevel+stepPCA, share, levels))
	return append(steps, terrificSteps(prefixProjected, share, levels, slack)...)
}

// A node of the recursion: a part, and the largest number of components that it may still be cut
// into. k = 1 is a leaf.
type node struct {
	part
	k int
}

// rpgmp partitions the rows into at most 2^(k-1) parts, one component each if the mixture is
// separated, breadth first: the nodes of a level partition space, so that each of the five steps is
// one measurement of all of them. n is the number of rows, public or released. No leaf is returned
// if no ball holds the rows at the root.
//
// Cost: (k-1) levels of five steps, mu2/(5(k-1)) each.
//
// Source: [KSSU19] Algorithm 1; budget Section B.9 of the restatement.
// Differs: a node without a ball, or in which noise would hide its parts, is a leaf; radii of
// terrific balls lie below that of the node's ball.
func (r *run) rpgmp(ctx context.Context, root part, n float64, k int, mu2 float64) ([]part, error) {
	level := []*node{{part: root, k: k}}
	var leaves []part
	g := &partitioner{run: r, n: n, least: r.c.leastWeight(k) * n, mu2: mu2 / float64(levelSteps*max(1, k-1))}
	for depth := 0; len(level) > 0; depth++ {
		var live []*node
		for _, v := range level {
			if v.k <= 1 {
				leaves = append(leaves, v.part)
			} else {
				live = append(live, v)
			}
		}
		if level = nil; live == nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		below, left, err := g.cut(live)
		if err != nil {
			return nil, err
		}
		if depth == 0 && g.lost > 0 {
			return nil, nil
		}
		level = below
		for _, v := range left {
			leaves = append(leaves, v.part)
		}
	}
	return leaves, nil
}

// A partitioner cuts the nodes of a level.
type partitioner struct {
	*run
	n     float64 // rows
	least float64 // n w_min
	mu2   float64 // of a step
	lost  int     // nodes without a ball, so far
}

// cut looks into the nodes of a level, all with the same k, and returns their children, and the
// nodes that are leaves.
func (g *partitioner) cut(nodes []*node) (below, left []*node, err error) {
	// Step 2: a ball around most of the rows.
	nodes, balls, left, err := g.bound(nodes)
	if err != nil || len(nodes) == 0 {
		return nil, left, err
	}
	parts, tops := make([]part, len(nodes)), make([]float64, len(nodes))
	for i, v := range nodes {
		parts[i], tops[i] = v.part, balls[i].radius
		parts[i].t = g.least / 2
	}
	// Step 3: the smallest terrific ball; what is inside it and far outside are children.
	found, err := g.terrificBall(prefixBall, parts, tops, false, g.mu2)
	if err != nil {
		return nil, nil, err
	}
	var rest []int
	for i, b := range found {
		if b != nil {
			below = append(below, g.children(nodes[i], b)...)
		} else {
			rest = append(rest, i)
		}
	}
	if rest == nil {
		return below, left, nil
	}
	// Step 6, where there is none: private PCA, and the largest terrific ball of the projection.
	restBalls, restTops := make([]*ball, len(rest)), make([]float64, len(rest))
	for j, i := range rest {
		restBalls[j], restTops[j] = balls[i], tops[i]
	}
	parts = chosen(parts, rest)
	frames, err := g.pca(prefixLevel+stepPCA, parts, restBalls, nodes[0].k, g.mu2)
	if err != nil {
		return nil, nil, err
	}
	for j := range parts {
		parts[j].frame = frames[j]
	}
	if found, err = g.terrificBall(prefixProjected, parts, restTops, true, g.mu2); err != nil {
		return nil, nil, err
	}
	for j, b := range found {
		if v := nodes[rest[j]]; b != nil {
			below = append(below, g.children(v, b)...)
		} else {
			left = append(left, v)
		}
	}
	return below, left, nil
}

// bound restricts every node to a ball around most of its rows (step 2 of Algorithm 1).
func (g *partitioner) bound(nodes []*node) (bounded []*node, balls []*ball, left []*node, err error) {
	parts := make([]part, len(nodes))
	q := query.Parts{}
	for i, v := range nodes {
		parts[i] = v.part
		q.Queries = append(q.Queries, query.Count{})
	}
	q.Partition = partition(parts)
	ans, err := pure.Laplace(g.a, prefixLevel+stepN, q, paper.PureEpsilon(g.mu2))
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range parts {
		parts[i].rows = math.Max(0, math.Min(g.n, ans.Values[i]))
		parts[i].t = parts[i].rows - g.c.RowsAside*g.least
	}
	found, err := g.pgloc(prefixAll, parts, g.mu2)
	if err != nil {
		return nil, nil, nil, err
	}
	for i, b := range found {
		v := nodes[i]
		v.rows = parts[i].rows
		if b != nil {
			b.radius *= g.c.Kept
		}
		if b == nil || !usable(b.frame, b.radius) {
			left = append(left, v)
			g.lost++
			continue
		}
		v.part = v.and(b.within(b.radius))
		bounded, balls = append(bounded, v), append(balls, b)
	}
	return bounded, balls, left, nil
}

// children returns the rows inside the ball and those beyond c times its radius; rows between are
// dropped.
func (g *partitioner) children(v *node, b *ball) []*node {
	in := &node{part: v.and(b.within(b.radius)), k: v.k - 1}
	out := &node{part: v.and(b.beyond(g.c.Secluded * b.radius)), k: v.k - 1}
	return []*node{in, out}
}
