package engine

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ListCSV returns the CSV files of folders, and the files named.
func ListCSV(names []string) (all []string, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case !info.IsDir():
			all = append(all, name)
		default:
			for _, pattern := range []string{"*.csv", "*.csv.gz"} {
				in, err := filepath.Glob(filepath.Join(name, pattern))
				if err != nil {
					return nil, err
				}
				all = append(all, in...)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no CSV files in %s: %w", strings.Join(names, " "), ErrUsage)
	}
	return all, nil
}

// Base returns the name of a file without folder and endings.
func Base(name string) string {
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	return base
}

// ReadCSV returns the rows of a CSV file, compressed or not: the columns that hold numbers, without
// label and id; NaN is what is no number.
func ReadCSV(name string) ([][]float64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	head, lines := lines[0], lines[1:]
	out := make([][]float64, len(lines))
	for j, column := range head {
		values, numbers := make([]float64, len(lines)), 0
		for i, l := range lines {
			if values[i], err = strconv.ParseFloat(l[j], 64); err == nil {
				numbers++
			} else {
				values[i] = math.NaN()
			}
		}
		if column != "label" && column != "id" && numbers*2 > len(lines) {
			for i, v := range values {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}
