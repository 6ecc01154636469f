package em

// What tests from outside draw and compare.
var Random, Drawn, Apart = random, drawn, apart

// Lessons are k, d and n of lessons.
func Lessons() (out [][3]int) {
	for _, c := range lessons {
		out = append(out, [3]int{c.k, c.d, c.n})
	}
	return out
}
