//go:build purego || !amd64

package coreset

func shares(share [][panel]lanes, scale *[panel]lanes, x []block, parts []part, loglik *lanes, wide, score bool) {
	sharesGo(share, scale, x, parts, loglik, wide, score)
}
func gather(to *[len(sums{})]lanes, share, scale *[panel]lanes, x []block, p *part) {
	gatherGo(to, share, scale, x, p)
}
