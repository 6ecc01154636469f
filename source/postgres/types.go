package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gauze-dp/gauze/source"
)

// The types of PostgreSQL that are distinguished, by their numbers in pg_type.
const (
	boolean     = 16
	int8bytes   = 20
	int2bytes   = 21
	int4bytes   = 23
	float4bytes = 700
	float8bytes = 701
	money       = 790
	date        = 1082
	clock       = 1083
	timestamp   = 1114
	timestampTZ = 1184
	interval    = 1186
	clockTZ     = 1266
	numeric     = 1700
)

// inBinary are the types whose values come as the server holds them; all others come as text.
var inBinary = map[uint32]bool{int2bytes: true, int4bytes: true, int8bytes: true, float4bytes: true, float8bytes: true}

const epochHint = "select a number, such as extract(epoch from column), in a ?query="

var known = map[uint32]source.Type{
	int2bytes:   {Numbers: true, Name: "whole numbers"},
	int4bytes:   {Numbers: true, Name: "whole numbers"},
	int8bytes:   {Numbers: true, Name: "whole numbers"},
	float4bytes: {Numbers: true, Name: "floating-point numbers"},
	float8bytes: {Numbers: true, Name: "floating-point numbers"},
	numeric:     {Numbers: true, Name: "decimals"},
	boolean:     {Truth: true, Name: "truth values", Hint: "leave its kind out, or say yes-no"},
	money:       {Name: "amounts of money", Hint: "select column::numeric in a ?query="},
	date:        {Name: "dates", Hint: epochHint},
	clock:       {Name: "times of day", Hint: epochHint},
	clockTZ:     {Name: "times of day", Hint: epochHint},
	timestamp:   {Name: "points in time", Hint: epochHint},
	timestampTZ: {Name: "points in time", Hint: epochHint},
	interval:    {Name: "spans of time", Hint: epochHint},
}

// typesOf finds the types of columns. For an unknown type the server says whether it has several
// values; else it is read as its text.
func typesOf(ctx context.Context, conn *pgconn.PgConn, oids []uint32) ([]source.Type, error) {
	types := make([]source.Type, len(oids))
	var asked []string
	for i, oid := range oids {
		var ok bool
		if types[i], ok = known[oid]; !ok {
			types[i] = source.Type{Name: "text"}
			asked = append(asked, fmt.Sprint(oid))
		}
	}
	if asked == nil {
		return types, nil
	}
	answer := conn.ExecParams(ctx, "SELECT oid FROM pg_catalog.pg_type WHERE typcategory IN ('A', 'C', 'R') AND oid IN ("+strings.Join(asked, ", ")+")", nil, nil, nil, nil).Read()
	if answer.Err != nil {
		return nil, fault(answer.Err, true)
	}
	for _, row := range answer.Rows {
		for i, oid := range oids {
			if string(row[0]) == fmt.Sprint(oid) {
				types[i] = source.Type{Name: "nested values", Hint: "select their parts as columns of their own in a ?query="}
			}
		}
	}
	return types, nil
}

// cell returns the value of a selected column: nil data is null.
func cell(oid uint32, data []byte) (float64, source.Kind) {
	if data == nil {
		return 0, source.Missing
	}
	switch oid {
	case boolean:
		if len(data) == 1 && data[0] == 't' {
			return 1, source.Number
		}
		return 0, source.Number
	case int2bytes:
		return float64(int16(binary.BigEndian.Uint16(data))), source.Number
	case int4bytes:
		return float64(int32(binary.BigEndian.Uint32(data))), source.Number
	case int8bytes:
		return float64(int64(binary.BigEndian.Uint64(data))), source.Number
	case float4bytes:
		return source.Cell(source.Widen(math.Float32frombits(binary.BigEndian.Uint32(data))))
	case float8bytes:
		return source.Cell(math.Float64frombits(binary.BigEndian.Uint64(data)))
	}
	return source.ParseCell(string(data))
}

// text returns a label as the server writes it, except for truth values, which are spelt out as in
// other formats.
func text(oid uint32, data []byte) string {
	if oid == boolean && len(data) == 1 {
		return map[byte]string{'t': "true", 'f': "false"}[data[0]]
	}
	return string(data)
}
