package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// A Page is Markdown that is being written, and the pictures that belong to it. The zero value is
// an empty page.
type Page struct {
	out      bytes.Buffer
	pictures []namedPicture
}

type namedPicture struct {
	name string
	Picture
}

// Title writes the page's.
func (p *Page) Title(s string) { fmt.Fprintf(&p.out, "# %s\n\n", s) }

// Heading writes one of the second level.
func (p *Page) Heading(s string) { fmt.Fprintf(&p.out, "## %s\n\n", s) }

// Text writes a paragraph.
func (p *Page) Text(s string) { fmt.Fprintf(&p.out, "%s\n\n", s) }

// Table writes a table, unless it has no rows.
func (p *Page) Table(t Table) {
	if len(t.Rows) > 0 {
		_ = t.Write(&p.out) // a buffer takes everything
	}
}

// Picture adds a picture, unless nothing can be seen on it.
func (p *Page) Picture(name string, pic Picture) {
	points := 0
	for _, l := range pic.Lines {
		if !l.Thin {
			points = max(points, len(l.X))
		}
	}
	if points < 2 {
		return
	}
	p.pictures = append(p.pictures, namedPicture{name, pic})
	fmt.Fprintf(&p.out, "![%s](%s.svg)\n\n", pic.Title, name)
}

// Bytes is the page.
func (p *Page) Bytes() []byte { return p.out.Bytes() }

// Save writes the page and its pictures into a folder.
func (p *Page) Save(folder, name string) error {
	if err := os.WriteFile(filepath.Join(folder, name+".md"), p.out.Bytes(), 0o666); err != nil {
		return err
	}
	for _, pic := range p.pictures {
		file := filepath.Join(folder, pic.name+".svg")
		var b bytes.Buffer
		if err := pic.WriteSVG(&b); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}
