package estimate

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/model/flags"
)

// Undescribed is what a model leaves out: the rows that were counted and that it does not describe,
// because they lie beyond a clipping radius, outside of boxes, or in no component. All of it is
// released values.
type Undescribed struct {
	Share float64 // noisy share of the rows, 0 to 1
	Noise float64 // its standard deviation
	// Where says in short words where these rows are: "beyond 30 times the released spread"; after
	// a semicolon, what stands for them.
	Where string
	// Anywhere: the rows may lie at any distance, so that even a few matter, and it is said how
	// many would not be seen.
	Anywhere bool
	Columns  []UndescribedColumn // of columns in which they were counted one by one
}

// An UndescribedColumn is the rows that a model leaves out because of one column. One row may be
// counted in several columns.
type UndescribedColumn struct {
	Column       int     // index
	Share, Noise float64 // as in Undescribed
	// Beyond are the values outside of which these rows lie, in the column's own units; -MaxFloat64
	// or MaxFloat64 where a side has none.
	Beyond [2]float64
	// Counted: the column was counted because more rows lie out there than noise explains, so that
	// less is enough to name it.
	Counted bool
	// Pull is by how much of the column's sd in the model these rows would move its mean or its sd,
	// whichever is more, were they counted; 0 where nothing is known of it.
	Pull float64
}

// Utility constants of the reports about undescribed rows, guesses.
const (
	clearSDs   = 4.0  // noise sds by which a share must differ from nothing
	clearShare = .005 // .. and how large it must be
	clearPull  = .03  // .. or, if it is smaller, how much it must matter in a moment
	// anywhereSDs are enough for a share that was counted alone, of rows that may be anywhere.
	anywhereSDs = 3.0
	// countedSDs are enough in a column of which a count of all columns says that there are some.
	countedSDs  = 2.5
	hiddenShare = .05 // that the noise may hide without a flag
)

// Clear reports whether more rows than noise explains were counted alone.
func (u Undescribed) Clear() bool { return u.Share > anywhereSDs*u.Noise }

// clear reports whether a share is to be reported.
func clear(share, noise, pull float64) bool {
	return share > clearSDs*noise && (share > clearShare || pull > clearPull)
}

// LeavesOut records what the model leaves out, and flags it if it is clear of the noise. Every
// method calls it once, as the model is made, with its count. This function alone decides what is
// worth a flag, and its text. Shares are cut to [0, 1].
func (d *Diagnostics) LeavesOut(u Undescribed) {
	u.Share = math.Max(0, math.Min(1, u.Share))
	u.Columns = append([]UndescribedColumn(nil), u.Columns...)
	d.Undescribed = &u
	most := math.Min(1, u.Share+anywhereSDs*u.Noise)
	if hidden := most > hiddenShare; u.Share <= anywhereSDs*u.Noise {
		unseen := fmt.Sprintf("up to about %s of the rows may lie there unseen, at any distance", percent(most, 2))
		if hidden {
			d.Flag(flags.New(flags.LeftOut, "rows that are not described by the model: %s; %s", u.Where, unseen).Of(u.Share, u.Noise))
		}
		if hidden || u.Anywhere {
			u.Where += "; " + unseen
		}
	} else if u.Anywhere || hidden || clear(u.Share, u.Noise, 0) {
		d.Flag(flags.New(flags.LeftOut, "%s of the rows are not described by the model: %s", around(u.Share, u.Noise), u.Where).Of(u.Share, u.Noise))
	}
	for i := range u.Columns {
		c := &u.Columns[i]
		c.Share = math.Max(0, math.Min(1, c.Share))
		if !clear(c.Share, c.Noise, c.Pull) && !(c.Counted && c.Share > countedSDs*c.Noise) {
			continue
		}
		moves := ""
		if c.Pull > clearPull {
			moves = fmt.Sprintf("; they would move its mean or sd by about %.2g of its sd", c.Pull)
		}
		d.Flag(flags.New(flags.LeftOut, "column %v: the model leaves out %s of the rows, which lie far out%s%s", flags.Ref{c.Column}, around(c.Share, c.Noise), c.beyond(), moves).
			In(c.Column).Of(c.Share, c.Noise))
	}
}

// beyond says where the rows are, if both or one of the bounds is known.
func (c UndescribedColumn) beyond() string {
	low, high := c.Beyond[0] > -math.MaxFloat64, c.Beyond[1] < math.MaxFloat64
	switch {
	case c.Beyond[0] >= c.Beyond[1]:
		return ""
	case low && high:
		return fmt.Sprintf(" (below %.4g or above %.4g)", c.Beyond[0], c.Beyond[1])
	case low:
		return fmt.Sprintf(" (below %.4g)", c.Beyond[0])
	case high:
		return fmt.Sprintf(" (above %.4g)", c.Beyond[1])
	}
	return ""
}

// around returns a share and its noise in words.
func around(share, noise float64) string {
	return fmt.Sprintf("about %s (give or take %s)", percent(share, 2), percent(noise, 1))
}

// percent writes a share with so many digits, and never as a power of ten.
func percent(share float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(100*share, 'g', digits, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + "%"
}
