package rows

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
)

// Places are where custodians' inputs may be: each custodian has folders and connections of their
// own, and no one can read a file of the ledger or the server's secrets.
type Places struct {
	shared      []string                     // folders in which each custodian has a subfolder of their name
	own         map[string][]string          // folders by custodian
	connections map[string]map[string]string // URLs by custodian and name
	never       []string                     // the ledger's files, and the server's other secrets
}

// connectionScheme begins an input that is read through a connection: connection:NAME?table=T.
const connectionScheme = "connection"

// inputHint says what a custodian may name.
const inputHint = "name a file in your folder of the server's data, by its path there, or connection:NAME?table=T for a connection that the server's configuration names"

var (
	ofCustodian  = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._@+-]{0,63})=(.+)$`)
	ofConnection = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._@+-]{0,63})/([A-Za-z0-9_-]{1,64})=(postgres(?:ql)?://.+)$`)
)

// NewPlaces reads the configured places: folders, as FOLDER or CUSTODIAN=FOLDER, and connections,
// as CUSTODIAN/NAME=postgres://... Without any, it is a folder called data beside the database,
// which is created if missing. It refuses folders that hold the database, the ledger's key or
// another file of secrets, or another custodian's folder, and connections to the server's own
// database.
func NewPlaces(data, connections []string, database, key string, secrets ...string) (*Places, error) {
	p := &Places{own: map[string][]string{}, connections: map[string]map[string]string{}}
	for _, file := range append(ledger.Files(database, key), secrets...) {
		if file != "" {
			p.never = append(p.never, file)
		}
	}
	if len(data) == 0 {
		beside := "data"
		if !strings.Contains(database, "://") {
			beside = filepath.Join(filepath.Dir(database), beside)
		}
		os.MkdirAll(beside, 0o700) // if it cannot be made, inputs are refused
		p.shared = []string{beside}
	}
	for _, word := range data {
		if err := p.addFolder(word); err != nil {
			return nil, err
		}
	}
	for _, word := range connections {
		if err := p.addConnection(word, database); err != nil {
			return nil, err
		}
	}
	return p, p.check()
}

func (p *Places) addFolder(word string) error {
	folder, who := word, ""
	if found := ofCustodian.FindStringSubmatch(word); found != nil {
		who, folder = found[1], found[2]
	}
	path, err := filepath.Abs(folder)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if info, fault := os.Stat(path); err != nil || fault != nil || !info.IsDir() {
		return &privacy.FieldError{Field: "data", Wanted: "a folder", Got: folder, Fix: "check the path"}
	}
	if who == "" {
		p.shared = append(p.shared, path)
	} else {
		p.own[who] = append(p.own[who], path)
	}
	return nil
}

func (p *Places) addConnection(word, database string) error {
	fault := func(wanted, got, fix string) error {
		return &privacy.FieldError{Field: "connection", Wanted: wanted, Got: got, Fix: fix}
	}
	found := ofConnection.FindStringSubmatch(word)
	if found == nil {
		return fault("CUSTODIAN/NAME=postgres://..", "something else", "for instance kim/warehouse=postgres://reader@db.example.org/visits, in the file of --config if it has a password")
	}
	to, err := url.Parse(found[3])
	if err != nil {
		return fault("a URL of a database", "something else", "percent-encode what is special in user and password")
	}
	if own, err := url.Parse(database); err == nil && own.Scheme != "" && own.Host == to.Host && strings.Trim(own.Path, "/") == strings.Trim(to.Path, "/") {
		return fault("another database than the server's own", "that one", "keep tables apart from the ledger and the tokens")
	}
	if p.connections[found[1]] == nil {
		p.connections[found[1]] = map[string]string{}
	}
	p.connections[found[1]][found[2]] = found[3]
	return nil
}

// check returns an error if a folder holds a file of the ledger, or if a custodian's folder holds
// another custodian's.
func (p *Places) check() error {
	for _, folder := range slices.Concat(p.shared, slices.Concat(p.owned()...)) {
		if file := p.holds(folder); file != "" {
			return &privacy.FieldError{Field: "data", Wanted: "a folder without the server's database and key", Got: folder + ", which holds " + file,
				Fix: "move the tables into a folder of their own: custodians can have everything read that lies there"}
		}
	}
	fault := func(one, other string) error {
		return &privacy.FieldError{Field: "data", Wanted: "a folder of its own for each custodian", Got: one + " and " + other, Fix: "move one out of the other"}
	}
	for who, folders := range p.own {
		for _, folder := range folders {
			for _, other := range p.shared {
				if within(other, folder) || within(folder, other) && !within(folder, filepath.Join(other, who)) {
					return fault(other, folder)
				}
			}
			for whose, others := range p.own {
				for _, other := range others {
					if whose != who && within(folder, other) {
						return fault(other, folder)
					}
				}
			}
		}
	}
	return nil
}

func (p *Places) owned() (all [][]string) {
	for _, folders := range p.own {
		all = append(all, folders)
	}
	return all
}

// within reports whether a path is in a folder, or is the folder.
func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// holds returns a file of the ledger that lies in a folder, "" for none.
func (p *Places) holds(folder string) string {
	folder = ledger.Unlinked(folder)
	for _, file := range p.never {
		if within(ledger.Unlinked(file), folder) {
			return file
		}
	}
	return ""
}

// folders returns the folders of a custodian. None holds a file of the ledger, whatever has
// happened to links since the server began.
func (p *Places) folders(who string) (all []string) {
	for _, folder := range p.own[who] {
		all = append(all, ledger.Unlinked(folder))
	}
	for _, folder := range p.shared {
		all = append(all, ledger.Unlinked(filepath.Join(folder, who)))
	}
	return slices.DeleteFunc(all, func(folder string) bool { return p.holds(folder) != "" })
}

// find returns a custodian's input as inputs.Open takes it: a path in one of their folders,
// wherever links lead, or the URL of one of their connections. Its error is the same for all that
// is refused and all that is missing, so nobody can find out what files exist elsewhere.
func (p *Places) find(who, input string) (string, error) {
	scheme := inputs.Scheme(input)
	switch scheme {
	case connectionScheme:
		return p.connect(who, input[len(connectionScheme)+1:])
	case "", "sqlite":
	default:
		return "", refused("the URL of a database or a server")
	}
	folders := p.folders(who)
	for _, folder := range folders {
		found, err := input, error(nil)
		if scheme != "" {
			found, err = inFolder(folder, input)
		} else if !filepath.IsAbs(input) {
			found = filepath.Join(folder, input)
		}
		if err == nil && inside(folders, found) {
			return found, ledger.Apart(p.never, inputs.Opened(found))
		}
	}
	return "", refused(fmt.Sprintf("%.80q, which is none", input))
}

func refused(got string) error {
	return &source.Error{Field: "input", Wanted: "a file in your folder of data, or one of your connections", Got: got, Hint: inputHint}
}

// inFolder returns sqlite:FILE?.. with the file's path put into a folder.
func inFolder(folder, input string) (string, error) {
	path, err := inputs.SQLite(input)
	if err != nil || filepath.IsAbs(path) {
		return input, err
	}
	_, asked, _ := strings.Cut(input, "?")
	return "sqlite:" + (&url.URL{Path: filepath.ToSlash(filepath.Join(folder, path))}).EscapedPath() + "?" + asked, nil
}

// inside reports whether all files of an input exist, in one of some folders.
func inside(folders []string, input string) bool {
	files := inputs.Files(input)
	for _, file := range files {
		path, err := filepath.EvalSymlinks(file)
		if err != nil || !slices.ContainsFunc(folders, func(folder string) bool { return path != folder && within(path, folder) }) {
			return false
		}
	}
	return len(files) > 0
}

// connect returns the URL of NAME?table=T.
func (p *Places) connect(who, asked string) (string, error) {
	name, parameters, _ := strings.Cut(asked, "?")
	to, known := p.connections[who][name]
	if !known {
		return "", refused(fmt.Sprintf("connection %.80q, which is none of yours", name))
	}
	// Anything else would change where the connection leads, or which files it reads.
	if _, _, rest, err := source.TableOrQuery(parameters); err != nil || rest != "" {
		return "", cmp.Or(err, refused("more than table=T or query=Q behind the ?"))
	}
	mark := "?"
	if strings.Contains(to, "?") {
		mark = "&"
	}
	return to + mark + parameters, nil
}
