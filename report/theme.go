package report

import (
	"fmt"
	"strconv"
)

// A role is what something in a picture is. The page's style sheet, not the picture, says which
// colour that is: the plotting library draws a role as a marker colour, and themed replaces the
// marker by a class.
type role int

const (
	roleInk     role = iota // names of axes, ticks
	roleAxis                // lines of axes
	roleMixture             // the mixture's density
	roleShade               // a level of the mixture's density over two columns
	roleLabel               // a component's number
	rolePart                // the first component's colour; paletteSize of them
)

// paletteSize is how many colours the style sheet has for components; further ones differ by their
// dashes.
const paletteSize = 8

// roleNames are the classes of the style sheet; s-NAME strokes, f-NAME fills.
var roleNames = func() map[string]string {
	names := []string{"ink", "axis", "mix", "shade", "label"}
	for i := range paletteSize {
		names = append(names, "c"+strconv.Itoa(i))
	}
	out := make(map[string]string, len(names))
	for i, name := range names {
		out[role(i).marker()] = name
	}
	return out
}()

// marker is the colour, as the plotting library writes it, that stands for r.
func (r role) marker() string { return fmt.Sprintf("#A5%02X5A", int(r)) }

// A paint is a role with an opacity in (0, 1]. It is a color.Color for the plotting library alone.
type paint struct {
	role  role
	alpha float64
}

// RGBA returns the marker of the role, multiplied with alpha as a color.Color's channels are. Half
// a step is added to each channel, because the plotting library cuts instead of rounding when it
// divides by alpha again.
func (p paint) RGBA() (r, g, b, a uint32) {
	opacity := max(0.02, p.alpha)
	channel := func(v int) uint32 { return uint32((float64(v)+0.5)/255*opacity*0xFFFF + 0.5) }
	return channel(0xA5), channel(int(p.role)), channel(0x5A), uint32(opacity*0xFFFF + 0.5)
}

func solid(r role) paint                { return paint{r, 1} }
func faint(r role, alpha float64) paint { return paint{r, alpha} }

// partRole is the colour of component i, and partClass the style sheet's name for it.
func partRole(i int) role    { return rolePart + role(i%paletteSize) }
func partClass(i int) string { return "c" + strconv.Itoa(i%paletteSize) }

// backgroundClass is the style sheet's name for the colour of all background components.
const backgroundClass = "bg"
