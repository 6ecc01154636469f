package fill

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"text/template/parse"
)

// An escaper returns a text as it can be written at one place of a page; raw texts are the
// program's own.
type escaper func(text string, raw bool) (string, error)

// A place is where in a page a template is.
type place struct {
	in    kindOfPlace
	tag   string // the open or last tag's name
	attr  string // .. and its attribute's
	begun bool   // something of the attribute's value is written
}

type kindOfPlace byte

const (
	inText  kindOfPlace = iota // between tags
	inTag                      // between < and >, outside of values
	inValue                    // in a quoted attribute
	inStyle                    // in a style element
	inCode                     // in a script element
)

// escape finds the escaper of every action, from the templates that no other calls.
func (s *Set) escape() error {
	called := map[string]bool{}
	for _, tree := range s.trees {
		calls(tree.Root, called)
	}
	for name, tree := range s.trees {
		if called[name] || tree.Root == nil {
			continue
		}
		if end, err := s.follow(place{}, tree.Root); err != nil || end.in != inText {
			return fmt.Errorf("fill: %s: its tags are not closed (%v)", name, err)
		}
	}
	return nil
}

// calls notes which templates a node calls.
func calls(node parse.Node, called map[string]bool) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, one := range n.Nodes {
				calls(one, called)
			}
		}
	case *parse.IfNode:
		calls(n.List, called)
		calls(n.ElseList, called)
	case *parse.WithNode:
		calls(n.List, called)
		calls(n.ElseList, called)
	case *parse.RangeNode:
		calls(n.List, called)
		calls(n.ElseList, called)
	case *parse.TemplateNode:
		called[n.Name] = true
	}
}

// follow goes through a node from a place, and returns where it ends.
func (s *Set) follow(at place, node parse.Node) (place, error) {
	var err error
	switch n := node.(type) {
	case *parse.ListNode:
		for i := 0; n != nil && i < len(n.Nodes) && err == nil; i++ {
			at, err = s.follow(at, n.Nodes[i])
		}
	case *parse.TextNode:
		return at.after(string(n.Text))
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return at, nil
		}
		say, name, err := at.escaper()
		if err != nil {
			return at, fmt.Errorf("%s: %w", n, err)
		}
		if was, found := s.places[n]; found && was != name {
			return at, fmt.Errorf("%s is written both as %s and as %s", n, was, name)
		}
		s.says[n], s.places[n], at.begun = say, name, true
	case *parse.IfNode:
		return s.either(at, &n.BranchNode)
	case *parse.WithNode:
		return s.either(at, &n.BranchNode)
	case *parse.RangeNode:
		return s.either(at, &n.BranchNode)
	case *parse.TemplateNode:
		if s.trees[n.Name] == nil {
			return at, fmt.Errorf("%s: there is no such template", n)
		}
		return s.follow(at, s.trees[n.Name].Root)
	}
	return at, err
}

// either follows both branches, which have to end at the same place.
func (s *Set) either(at place, n *parse.BranchNode) (place, error) {
	a, err := s.follow(at, n.List)
	if err != nil {
		return at, err
	}
	b, err := s.follow(at, n.ElseList)
	if err != nil {
		return at, err
	}
	if a.in == inText && b.in == inText {
		return place{}, nil
	}
	begun := a.begun || b.begun
	a.begun, b.begun = begun, begun
	if a.in == inTag && b.in == inTag {
		a.attr, b.attr = "", ""
	}
	if a != b {
		return at, fmt.Errorf("the branches of {{%s}} end at different places", n.Pipe)
	}
	return a, nil
}

// after returns the place behind a text.
func (at place) after(text string) (place, error) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch at.in {
		case inText:
			if c != '<' {
				continue
			}
			if strings.HasPrefix(text[i:], "<!--") {
				return at, errors.New("a comment")
			}
			name := text[i+1:]
			if end := strings.IndexFunc(name, func(r rune) bool { return strings.ContainsRune(blanks+">", r) || r == '/' && name[0] != '/' }); end >= 0 {
				name = name[:end]
			}
			at = place{in: inTag, tag: strings.ToLower(name)}
			i += len(name)
		case inTag:
			switch {
			case c == '"' && text[max(i-1, 0)] == '=':
				at.in, at.begun = inValue, false
			case c == '"' || c == '\'' || c == '<':
				return at, fmt.Errorf("%q within the tag %s", c, at.tag)
			case c == '>':
				at = place{in: map[string]kindOfPlace{"style": inStyle, "script": inCode}[at.tag], tag: at.tag}
			case strings.IndexByte(blanks, c) >= 0:
				at.attr = ""
			case c != '=':
				at.attr += strings.ToLower(string(c))
			}
		case inValue:
			if c == '"' {
				at.in = inTag
			}
			at.begun = true
		case inStyle, inCode:
			if end := "</" + at.tag; len(text)-i >= len(end) && strings.EqualFold(text[i:i+len(end)], end) {
				at = place{in: inTag, tag: "/" + at.tag}
				i += len(at.tag)
			}
		}
	}
	return at, nil
}

// blanks separate attributes.
const blanks = " \t\r\n\f"

// plainAttributes are those in which data is only text to a browser, beside aria-.. and data-..: no
// address, no code, no markup.
var plainAttributes = map[string]bool{
	"class": true, "colspan": true, "cx": true, "cy": true, "d": true, "datetime": true, "for": true, "id": true, "name": true, "opacity": true,
	"r": true, "stroke-dasharray": true, "stroke-width": true, "text-anchor": true, "title": true, "transform": true, "value": true, "viewbox": true, "width": true, "x": true, "y": true,
}

// escaper returns what makes data safe at a place, and its name.
func (at place) escaper() (escaper, string, error) {
	switch {
	case at.in == inText:
		return escapeText, "text", nil
	case at.in == inStyle:
		return onlyRaw, "style", nil
	case at.in != inValue:
		return nil, "", errors.New("data can be written in text and in quoted attributes alone")
	case at.attr == "style":
		return onlyNumbers, "width", nil
	case at.attr == "href" || at.attr == "src" || at.attr == "action":
		if at.begun {
			return escapePart, "part of an address", nil
		}
		return escapeAddress, "address", nil
	case plainAttributes[at.attr] || strings.HasPrefix(at.attr, "aria-") || strings.HasPrefix(at.attr, "data-"):
		return escapeText, "text", nil
	}
	return nil, "", fmt.Errorf("data cannot be written in the attribute %q", at.attr)
}

func escapeText(text string, raw bool) (string, error) {
	if raw {
		return "", errors.New("raw text within a page's text")
	}
	return html.EscapeString(strings.ReplaceAll(text, "\x00", "\uFFFD")), nil
}

func onlyRaw(text string, raw bool) (string, error) {
	if !raw || strings.Contains(text, "</") {
		return "", errors.New("only raw text can stand in a style")
	}
	return text, nil
}

func onlyNumbers(text string, _ bool) (string, error) {
	if strings.Trim(text, "0123456789.") != "" {
		return "", errors.New("only numbers can stand in a style")
	}
	return text, nil
}

// escapePart escapes a part of an address.
func escapePart(text string, _ bool) (string, error) {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), nil
}

// escapeAddress escapes a whole address, of this server or of the web. As the standard library, it
// refuses what could be read as another scheme.
func escapeAddress(text string, _ bool) (string, error) {
	u, err := url.Parse(text)
	scheme, _, found := strings.Cut(text, ":")
	if err != nil || found && !strings.Contains(scheme, "/") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return "", errors.New("an address that is none of the web")
	}
	return html.EscapeString(u.String()), nil
}
