package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// A patient is a row of the exports.
type patient struct {
	id, age      int
	weight, cost float64
	share        float64
	unknown      bool // the cost is
}

// number writes a number as a program does: decimals, the mark before them, and between thousands.
func number(x float64, decimals int, decimal, thousands string) string {
	text := fmt.Sprintf("%.*f", decimals, x)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + thousands + whole[i:]
	}
	if rest == "" {
		return whole
	}
	return whole + decimal + rest
}

func (p patient) or(missing, cost string) string {
	if p.unknown {
		return missing
	}
	return cost
}

// An export is how a program writes a table.
type export struct {
	name, header, columns string
	row                   func(i int, p patient) string
	encode                func(text string) []byte
	flag                  string // that the error names; "" for none
}

func utf8Text(text string) []byte { return []byte(text) }
func marked(text string) []byte   { return []byte("\ufeff" + text) }
func windows1252(text string) []byte {
	out, err := charmap.Windows1252.NewEncoder().Bytes([]byte(text))
	if err != nil {
		panic(err)
	}
	return out
}

func utf16Text(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// exports are how programs write tables: made by hand after their documented defaults.
var exports = []export{
	{"Excel, German", "Nummer;Alter;Größe;Kosten", "Alter,Größe,Kosten", func(_ int, p patient) string {
		return fmt.Sprintf("%d;%d;%s;%s", p.id, p.age, number(p.weight, 1, ",", "."), p.or("", number(p.cost, 2, ",", ".")))
	}, windows1252, `--csv "decimal=, thousands=."`},
	{"Excel, French, UTF-8", "numéro;âge;poids;coût", "âge,poids,coût", func(_ int, p patient) string {
		return fmt.Sprintf("%d;%d;%s;%s", p.id, p.age, number(p.weight, 1, ",", "\u202f"), p.or("", number(p.cost, 2, ",", "\u202f")))
	}, marked, `--csv "decimal=, thousands=space"`},
	{"Excel, French, windows-1252", "numero;age;poids;cout", "age,poids,cout", func(_ int, p patient) string {
		return fmt.Sprintf("%d;%d;%s;%s", p.id, p.age, number(p.weight, 1, ",", ""), p.or("", number(p.cost, 2, ",", "\u00a0")+" €"))
	}, windows1252, `--csv "decimal=, thousands=space encoding=latin1 strip=€"`},
	{"Excel, with a line sep=; and an empty column", "sep=;\r\nNr;Alter;Gewicht;Aufnahme;", "Alter,Gewicht,Aufnahme:date", func(_ int, p patient) string {
		return fmt.Sprintf("%d;%d;%s;%d.%d.2006;", p.id, p.age, number(p.weight, 1, ",", ""), 1+p.id%28, 1+p.id%12)
	}, marked, `--csv "decimal=,"`},
	{"Excel, English", "Id,Age,Weight,Cost,Share", "Age,Weight,Cost,Share", func(_ int, p patient) string {
		return fmt.Sprintf("%d,%d,%.1f,\"%s\",%.1f%%", p.id, p.age, p.weight, p.or("", number(p.cost, 2, ".", ",")), p.share)
	}, marked, `--csv "thousands=, strip=%"`},
	{"R, write.csv", `"","age","weight","cost"`, "age,weight,cost", func(i int, p patient) string {
		return fmt.Sprintf("\"%d\",%d,%v,%s", i+1, p.age, p.weight, p.or("NA", fmt.Sprint(p.cost)))
	}, utf8Text, ""},
	{"SAS, proc export", "PATID,AGE,WEIGHT,COST,VISIT", "AGE,WEIGHT,COST", func(_ int, p patient) string {
		return fmt.Sprintf("%d,%d,%.6g,%s,01JAN2020", p.id, p.age, p.weight, p.or(".", fmt.Sprintf("%.6g", p.cost)))
	}, utf8Text, ""},
	{"pandas, to_csv", ",age,weight,cost,smoker", "age,weight,cost", func(i int, p patient) string {
		return fmt.Sprintf("%d,%d.0,%v,%s,%v", i, p.age, p.weight, p.or("", fmt.Sprint(p.cost)), p.unknown)
	}, utf8Text, ""},
	{"Stata, export delimited", "id\tage\tweight\tcost", "age,weight,cost", func(_ int, p patient) string {
		return fmt.Sprintf("%d\t%d\t%.2f\t%s", p.id, p.age, p.weight, p.or(".a", fmt.Sprintf("%.2f", p.cost)))
	}, utf8Text, "--unreadable missing"},
	{"LibreOffice, Italian, UTF-16", "\"codice\"\t\"età\"\t\"peso\"\t\"costo\"", "età,peso,costo", func(_ int, p patient) string {
		return fmt.Sprintf("%d\t%d\t\"%s\"\t\"%s\"", p.id, p.age, number(p.weight, 1, ",", ""), p.or("", number(p.cost, 2, ",", "")))
	}, utf16Text, `--csv "decimal=,"`},
	{"hospital system", "PAT_NR|ALTER|GEWICHT|KOSTEN", "ALTER,GEWICHT,KOSTEN", func(_ int, p patient) string {
		return fmt.Sprintf("\"%d\"|\"%03d\"|\"%.1f\"|\"%s\"", p.id, p.age, p.weight, p.or("n.b.", fmt.Sprintf("%.2f", p.cost)))
	}, windows1252, "--unreadable missing"},
	{"survey tool", `"id","submitdate","G01Q01","G01Q02","G02Q01"`, "G01Q01,G01Q02,G02Q01", func(_ int, p patient) string {
		return fmt.Sprintf("\"%d\",\"2026-01-02 10:00:00\",\"%d\",\"%.1f\",\"%s\"", p.id, p.age, p.weight, p.or("N/A", fmt.Sprintf("%.2f", p.cost)))
	}, marked, ""},
	{"SPSS, save translate", "id,age,weight,cost,visit", "age,weight,cost,visit:date", func(_ int, p patient) string {
		return fmt.Sprintf("%d,%d,%8.2f,%s,%02d-OCT-2006", p.id, p.age, p.weight, p.or(" ", fmt.Sprintf("%.2f", p.cost)), 1+p.id%28)
	}, marked, ""},
}

// flagIn is a flag that an error names.
var flagIn = regexp.MustCompile(`--csv "[^"]*"|--unreadable missing`)

// TestExports: tables as programs write them are fitted as they are, or with the one flag that the
// error names, before which nothing is spent; and SOURCES has the table of what each needs.
func TestExports(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "SOURCES.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var people []patient
	for i := range 1500 {
		p := patient{id: 10_000 + i, age: 38 + int(8*rng.NormFloat64()), weight: 66 + 9*rng.NormFloat64(), cost: 900 + 200*rng.NormFloat64(), share: 40 + 9*rng.NormFloat64(), unknown: rng.IntN(25) == 0}
		if i%5 < 2 {
			p.age, p.weight, p.cost = p.age+32, p.weight+16, p.cost+3300
		}
		people = append(people, p)
	}
	for i, e := range exports {
		path := filepath.Join(dir, fmt.Sprintf("%d.csv", i))
		text := e.header + "\r\n"
		for i, p := range people {
			text += e.row(i, p) + "\r\n"
		}
		if err := os.WriteFile(path, e.encode(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fit := func(more ...string) (int, string) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"fit", path, "--columns", e.columns, "--epsilon", "4", "--delta", "1e-6", "--progress", "none"}, more...)
			code := program().Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
			return code, stderr.String()
		}
		code, said := fit()
		got := ""
		if code == 2 {
			got = flagIn.FindString(said)
			name, value, _ := strings.Cut(got, " ")
			code, said = fit(name, strings.Trim(value, `"`))
		}
		if code != 0 || got != e.flag || !strings.Contains(said, "1,500 rows read, ") {
			t.Errorf("%s: exit code %d with %q, want %q:\n%s", e.name, code, got, e.flag, said)
		}
		needs := "nothing"
		if e.flag != "" {
			needs = "`" + e.flag + "`"
		}
		if line := fmt.Sprintf("| %s | %s |", e.name, needs); !strings.Contains(string(docs), line) {
			t.Errorf("docs/SOURCES.md lacks the line %q", line)
		}
	}
}
