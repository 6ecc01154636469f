package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes in points, which are the page's pixels when a picture is shown at its own width.
const (
	textSize  = 11
	thin      = 0.6
	lineWidth = 1.3
	boldWidth = 2
	letter    = 6.1 // about the width of a letter in a tick's label
	tickSize  = 4
)

// A point is a place in a picture, in the units of its axes.
type point struct{ X, Y float64 }

// A picture is the content of svg.html. It has no colours and no font of its own: its marks name
// what they are, and the page's style sheet says how that looks.
type picture struct {
	ID, Title, Desc string // the text for readers who do not see it; ID is unique on the page
	Width, Height   float64
	Marks           []mark

	x, y                     axis
	left, right, top, bottom float64 // of the plane that the axes span, y from the top
	placed                   []point // where numbers are, in points
}

// A mark is a text, a dot, a line (which has a Width) or an area.
type mark struct {
	Path, Class, Text, Anchor, Dashes string
	X, Y, Radius, Width, Opacity      float64
	Turned                            bool // a text that reads upwards
}

// Classes of the style sheet; those of components are partClass'.
const (
	classInk   = "ink"   // names of axes, ticks
	classAxis  = "axis"  // lines of axes
	classMix   = "mix"   // the mixture's density
	classLabel = "label" // a component's number
)

// paletteSize is the number of colours that the style sheet has for components; further ones differ
// by their dashes.
const paletteSize = 8

// partClass returns the style sheet's name for the colour of component i.
func partClass(i int) string { return "c" + strconv.Itoa(i%paletteSize) }

// dashes returns the dashes of component i: solid for the first paletteSize, then dashed, then
// dotted.
func dashes(i int) string { return [...]string{"", "5 2.5", "1.5 2"}[i/paletteSize%3] }

// hatch returns the style sheet's name for the same in a key's square.
func hatch(i int) string { return [...]string{"", " dashed", " dotted"}[i/paletteSize%3] }

// newPicture returns a picture with its axes drawn and labelled; an axis without ticks is not
// drawn.
func newPicture(width, height float64, x, y axis, nameX, nameY string) *picture {
	p := &picture{Width: width, Height: height, x: x, y: y, left: 6, right: width - 6, top: 6, bottom: height - 6}
	nameX, nameY = x.label(nameX), y.label(nameY)
	if p.bottom -= tickSize + 1.3*textSize; nameX != "" {
		p.bottom -= 1.3 * textSize
	}
	for _, t := range y.ticks {
		p.left = math.Max(p.left, 10+tickSize+letter*float64(utf8.RuneCountInString(t.label)))
	}
	if nameY != "" {
		p.left += 1.3 * textSize
		p.text(mark{X: 1.1 * textSize, Y: (p.top + p.bottom) / 2, Text: nameY, Anchor: "middle", Turned: true})
	}
	if nameX != "" {
		p.text(mark{X: (p.left + p.right) / 2, Y: height - 4, Text: nameX, Anchor: "middle"})
	}
	frame := func(x1, y1, x2, y2 float64) {
		p.Marks = append(p.Marks, mark{Path: "M" + place(x1, y1) + "L" + place(x2, y2), Class: classAxis, Width: thin})
	}
	frame(p.left, p.bottom, p.right, p.bottom)
	for _, t := range x.ticks {
		at, _ := p.at(point{X: t.at})
		frame(at, p.bottom, at, p.bottom+tickSize)
		p.text(mark{X: at, Y: p.bottom + tickSize + textSize, Text: t.label, Anchor: "middle"})
	}
	if y.ticks != nil {
		frame(p.left, p.bottom, p.left, p.top)
	}
	for _, t := range y.ticks {
		_, at := p.at(point{Y: t.at})
		frame(p.left-tickSize, at, p.left, at)
		p.text(mark{X: p.left - tickSize - 3, Y: at + .35*textSize, Text: t.label, Anchor: "end"})
	}
	return p
}

// at returns where a point is on the page, in points; one beyond the axes is moved to their end.
func (p *picture) at(q point) (x, y float64) {
	along := func(a axis, u float64) float64 { return math.Max(0, math.Min(1, (u-a.lo)/(a.hi-a.lo))) }
	return p.left + along(p.x, q.X)*(p.right-p.left), p.bottom + along(p.y, q.Y)*(p.top-p.bottom)
}

// tenth rounds to a tenth of a point, a third of a pixel on a good screen.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

func place(x, y float64) string {
	return strconv.FormatFloat(tenth(x), 'f', -1, 64) + "," + strconv.FormatFloat(tenth(y), 'f', -1, 64)
}

// path returns a path through the points of each ring.
func (p *picture) path(rings ...[]point) string {
	var b strings.Builder
	for _, ring := range rings {
		for i, q := range ring {
			b.WriteByte("ML"[min(i, 1)])
			b.WriteString(place(p.at(q)))
		}
	}
	return b.String()
}

func (p *picture) text(m mark) {
	m.X, m.Y = tenth(m.X), tenth(m.Y)
	if m.Class == "" {
		m.Class = classInk
	}
	p.Marks = append(p.Marks, m)
}

// area fills closed curves.
func (p *picture) area(class string, opacity float64, rings ...[]point) {
	p.Marks = append(p.Marks, mark{Path: p.path(rings...), Class: class, Opacity: math.Round(1e3*opacity) / 1e3})
}

func (p *picture) line(class string, width float64, dashes string, opacity float64, points []point) {
	p.Marks = append(p.Marks, mark{Path: p.path(points), Class: class, Width: width, Dashes: dashes, Opacity: opacity})
}

func (p *picture) dot(class string, radius float64, at point) {
	x, y := p.at(at)
	p.Marks = append(p.Marks, mark{X: tenth(x), Y: tenth(y), Radius: radius, Class: class})
}

// number writes q's number beside a place: above if there is room, else to the right, below or to
// the left. If none of these is free, the number is left out.
func (p *picture) number(q part, at point, lift float64) {
	x, y := p.at(at)
	for _, side := range []point{{0, -lift}, {lift + 2, 0}, {0, lift}, {-lift - 2, 0}} {
		spot := point{x + side.X, y + side.Y}
		if p.taken(spot) {
			continue
		}
		p.placed = append(p.placed, spot)
		p.text(mark{X: spot.X, Y: spot.Y + .35*textSize, Class: classLabel, Text: strconv.Itoa(q.index + 1), Anchor: "middle"})
		return
	}
}

func (p *picture) taken(spot point) bool {
	return slices.ContainsFunc(p.placed, func(q point) bool { return math.Abs(spot.X-q.X) < textSize*1.2 && math.Abs(spot.Y-q.Y) < textSize*0.9 })
}
