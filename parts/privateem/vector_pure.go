//go:build purego || !amd64

package privateem

func square(out *lanes, x []lanes, w []float64, stride, rows int, mean []float64, off []lanes) {
	squareGo(out, x, w, stride, rows, mean, off)
}
func exp(v *lanes) { expGo(v) }
