package scale

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gauze-dp/gauze/model"
)

const (
	columns  = 10
	clusters = 5
	files    = 64
	number   = 8 // bytes
)

// apart is how far the means of clusters are from each other in every column, in the least of their
// standard deviations there.
var apart = map[string]float64{"one": 0, "near": 3, "apart": 12}

// enough says whether a folder has room for the shards of so many rows, and for the files of a
// tenth of them.
func enough(folder string, rows int) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return err
	}
	const perNumber, spare = number + 3, 1 << 28 // as text a number takes 10 bytes, kinds of rows one after the other
	if need, free := uint64(rows*columns*perNumber+spare), disk.Bavail*uint64(disk.Bsize); free < need {
		return fmt.Errorf("wanted %d MB of disk for temporary files, got %d: name another folder in TMPDIR", need>>20, free>>20)
	}
	return nil
}

// write writes files of rows of a kind, and returns their pattern: one Gaussian with correlations,
// or five clusters of equal size without.
func write(ctx context.Context, folder, kind string, rows int, seed uint64) (pattern string, err error) {
	own := filepath.Join(folder, kind, strconv.Itoa(rows))
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", err
	}
	place := rand.New(rand.NewPCG(seed, 0))
	means := make([][]float64, columns)
	for j := range means {
		for _, c := range place.Perm(clusters) {
			means[j] = append(means[j], apart[kind]*float64(c))
		}
	}
	for i := range files {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err := writeFile(filepath.Join(own, fmt.Sprintf("%02d.csv", i)), kind, rows/files, means, rand.New(rand.NewPCG(seed, uint64(i+1)))); err != nil {
			return "", err
		}
	}
	return filepath.Join(own, "*.csv"), nil
}

func writeFile(name, kind string, rows int, means [][]float64, rng *rand.Rand) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	fmt.Fprintln(out, strings.Join(model.DefaultColumns(columns), ","))
	var line []byte
	for range rows {
		line, last, cluster := line[:0], 0., rng.IntN(clusters)
		for j := range columns {
			x := (1 + float64((cluster+j)%2)) * rng.NormFloat64()
			if kind == "one" {
				x = float64(j+1) * (rng.NormFloat64() + last)
				last = x / float64(2*j+2)
			}
			line = append(strconv.AppendFloat(line, means[j][cluster]+x, 'f', 6, 64), ',')
		}
		line[len(line)-1] = '\n'
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// repeat makes a folder of links to the files of another one, each so often that together they have
// so many rows.
func repeat(folder, kind string, from, rows int) (pattern string, err error) {
	own := filepath.Join(folder, kind, strconv.Itoa(rows))
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", err
	}
	for times := range rows / from {
		for i := range files {
			old := filepath.Join(folder, kind, strconv.Itoa(from), fmt.Sprintf("%02d.csv", i))
			if err := os.Link(old, filepath.Join(own, fmt.Sprintf("%03d-%02d.csv", times, i))); err != nil {
				return "", err
			}
		}
	}
	return filepath.Join(own, "*.csv"), nil
}
