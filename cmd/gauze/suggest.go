package main

import "strings"

// nearest returns the word that was probably meant by a mistyped one, or "".
func nearest(typed string, words []string) string {
	best, least := "", max(1, len(typed)/3)+1
	for _, w := range words {
		distance := editDistance(strings.ToLower(typed), w)
		if distance > 0 && len(typed) > 1 && strings.HasPrefix(w, strings.ToLower(typed)) {
			distance = 1
		}
		if distance < least {
			best, least = w, distance
		}
	}
	return best
}

// editDistance is the number of bytes to insert, delete or replace, two swapped neighbours counting
// 1.
func editDistance(a, b string) int {
	var before []int
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
