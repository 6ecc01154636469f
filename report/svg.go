package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A caption is what a reader who does not see the picture is told, and the id that makes it unique
// on the page.
type caption struct {
	id, title, desc string
}

// render draws p, width x height points, as an SVG element that scales with its container and has
// no colours of its own.
func render(p *plot.Plot, width, height float64, about caption) (template.HTML, error) {
	c := vgsvg.New(vg.Points(width), vg.Points(height))
	p.Draw(draw.New(c))
	var raw bytes.Buffer
	if _, err := c.WriteTo(&raw); err != nil {
		return "", fmt.Errorf("picture %s: %w", about.id, err)
	}
	return themed(&raw, about)
}

// themed rewrites the plotting library's SVG: marker colours become classes, fonts are left to the
// page, numbers of paths are rounded to a tenth of a point, and the root scales and describes
// itself.
func themed(svg io.Reader, about caption) (template.HTML, error) {
	var out strings.Builder
	dec := xml.NewDecoder(svg)
	for {
		token, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return template.HTML(out.String()), nil
		}
		if err != nil {
			return "", fmt.Errorf("picture %s: %w", about.id, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "svg" {
				writeRoot(&out, t, about)
				continue
			}
			writeStart(&out, t)
		case xml.EndElement:
			out.WriteString("</" + t.Name.Local + ">")
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" {
				out.WriteString(escapeXML(text))
			}
		}
	}
}

func writeRoot(out *strings.Builder, t xml.StartElement, about caption) {
	box := ""
	for _, a := range t.Attr {
		if a.Name.Local == "viewBox" {
			box = a.Value
		}
	}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%s" width="100%%" role="img" aria-labelledby="%s-t" aria-describedby="%s-d">`,
		escapeXML(box), about.id, about.id)
	fmt.Fprintf(out, `<title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		about.id, escapeXML(clean(about.title)), about.id, escapeXML(clean(about.desc)))
}

func writeStart(out *strings.Builder, t xml.StartElement) {
	out.WriteString("<" + t.Name.Local)
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "style":
			writeStyle(out, a.Value)
		case "d":
			writeAttr(out, "d", roundPath(a.Value))
		default:
			writeAttr(out, a.Name.Local, a.Value)
		}
	}
	out.WriteString(">")
}

// writeStyle turns the library's inline style into one class and presentation attributes, which a
// style sheet can override. Colours that are not markers fall back to the text's.
func writeStyle(out *strings.Builder, style string) {
	for _, rule := range strings.Split(style, ";") {
		name, value, ok := strings.Cut(rule, ":")
		if !ok {
			continue
		}
		switch name = strings.TrimSpace(name); name {
		case "fill", "stroke":
			class, known := roleNames[value]
			switch {
			case known:
				writeAttr(out, "class", name[:1]+"-"+class)
			case value == "none" && name == "fill":
				// Every s- class fills with nothing.
			default:
				writeAttr(out, name, "currentColor")
			}
		case "font-size", "stroke-width", "stroke-opacity", "fill-opacity", "stroke-dasharray":
			writeAttr(out, name, strings.TrimSuffix(value, "px"))
		}
	}
}

func writeAttr(out *strings.Builder, name, value string) {
	out.WriteString(" " + name + `="` + escapeXML(value) + `"`)
}

var pathNumber = regexp.MustCompile(`-?[0-9.]+(e[-+]?[0-9]+)?`)

// roundPath rounds every number of a path to a tenth of a point, a third of a pixel on a good
// screen.
func roundPath(d string) string {
	return pathNumber.ReplaceAllStringFunc(d, func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		out := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
		if out == "-0" {
			return "0"
		}
		return out
	})
}

func escapeXML(s string) string {
	var b strings.Builder
	// A strings.Builder never fails.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
