package shell

import "github.com/spf13/cobra"

// Nearest returns the word that was probably meant by a mistyped one, or "": cobra finds it, which
// knows words as commands.
func Nearest(typed string, words []string) string {
	all := &cobra.Command{}
	for _, w := range words {
		all.AddCommand(&cobra.Command{Use: w, Run: func(*cobra.Command, []string) {}})
	}
	for distance := 1; distance <= 1+len(typed)/3 && len(typed) > 1; distance++ {
		all.SuggestionsMinimumDistance = distance
		if near := all.SuggestionsFor(typed); len(near) > 0 {
			return near[0]
		}
	}
	return ""
}
