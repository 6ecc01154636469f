"""Writes the Parquet files of this folder with pyarrow, and cells.csv with what their cells are.

    pip install pyarrow numpy && python make.py

One table, written in every version, compression and encoding that pyarrow has.
"""
import csv, datetime as dt, decimal, struct
import numpy as np, pyarrow as pa, pyarrow.parquet as pq

D = decimal.Decimal
decimal.getcontext().prec = 60
n = 24
hard = ["0", "-0", "5e-324", "-2.2250738585072011e-308", "1e308", "-1e308", "0.1", "9007199254740993", "123456789.123456789", "nan", "inf", "-inf"]
doubles = [float(hard[i % len(hard)]) if i < 12 else i / 7 for i in range(n)]
singles = [np.float32(x) for x in ([0.1, -0.0, 16777217, 1e-45, 3.4e38, 1.1, 1e9 + 1, float("nan"), float("inf"), 123.456] * 3)[:n]]
halves = [np.float16(x) for x in ([0.5, -0.0, 65504, 6e-8, 1 / 3, float("nan"), -float("inf"), 2048] * 3)]
wide = [2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63, 0, 7] * 4
gaps = lambda v, k: [None if i % k == 1 else x for i, x in enumerate(v)]

columns = {
    "double": (pa.float64(), doubles),
    "double_gaps": (pa.float64(), gaps(doubles, 3)),
    "float": (pa.float32(), singles),
    "half": (pa.float16(), halves),
    "int8": (pa.int8(), [i - 12 for i in range(n)]),
    "int32": (pa.int32(), gaps([2**31 - 1 - i for i in range(n)], 5)),
    "int64": (pa.int64(), wide),
    "uint32": (pa.uint32(), [2**32 - 1 - i for i in range(n)]),
    "uint64": (pa.uint64(), gaps([2**64 - 1 - i * 1025 for i in range(n)], 4)),
    "money32": (pa.decimal128(7, 2), [D(i * 37 - 300).scaleb(-2) for i in range(n)]),
    "money64": (pa.decimal128(17, 5), gaps([D(10**16 + i * 10**14 // 3).scaleb(-5) for i in range(n)], 6)),
    "dec_wide": (pa.decimal128(38, 20), [D(-1) ** i * D(10**37 + i * 10**35 // 7).scaleb(-20) for i in range(n)]),
    "dec_wider": (pa.decimal256(70, 30), [D(3 * i + 1).scaleb(-30) for i in range(n)]),
    "text": (pa.string(), gaps(["0.1", "x", "NA", "1e400", " 5 ", "ü" * 9] * 4, 7)),
    "same": (pa.int32(), [42] * n),
    "nothing": (pa.float64(), [None] * n),
    "truth": (pa.bool_(), gaps([i % 3 == 0 for i in range(n)], 5)),
    "date": (pa.date32(), [dt.date(1960, 2, 28) + dt.timedelta(days=700 * i) for i in range(n)]),
    "stamp": (pa.timestamp("us", tz="UTC"), gaps([dt.datetime(1969, 12, 31, 23, 59, 59, 250000, dt.timezone.utc) + dt.timedelta(days=99 * i) for i in range(n)], 8)),
    "nested": (pa.list_(pa.int32()), [[i, i] for i in range(n)]),
    "last": (pa.int16(), list(range(n))),
}
schema = pa.schema([pa.field(name, t, nullable=any(x is None for x in v) or name == "nested") for name, (t, v) in columns.items()])
table = pa.table([pa.array(v, t) for t, v in columns.values()], schema=schema)


def text(name, x):
    t = columns[name][0]
    if x is None or name == "nested":
        return ""
    if pa.types.is_decimal(t):
        return format(x.quantize(D(1).scaleb(-t.scale)), "f")
    if t == pa.bool_():
        return "true" if x else "false"
    if name == "stamp":
        return x.strftime("%Y-%m-%dT%H:%M:%S") + (".25" if x.microsecond else "") + "Z"
    if t == pa.float16():  # every one is a float64
        return repr(float(x))
    return str(x) if t == pa.float32() else repr(x) if t == pa.float64() else str(x)


with open("cells.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(columns)
    for i in range(n):
        out.writerow([text(name, v[i]) for name, (_, v) in columns.items()])

flat = {name: "PLAIN" for name in columns if name != "nested"}
delta = dict(flat)
split = dict(flat)
for name in ("int8", "int32", "int64", "uint32", "uint64", "same", "date", "stamp", "last"):
    delta[name] = "DELTA_BINARY_PACKED"
    split[name] = "BYTE_STREAM_SPLIT"
for name in ("double", "double_gaps", "float", "half", "dec_wide", "nothing"):
    split[name] = "BYTE_STREAM_SPLIT"
delta["text"], split["text"] = "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"
delta["truth"] = split["truth"] = "RLE"
ways = {
    "v1-snappy-dictionary": dict(version="2.6", data_page_version="1.0", compression="snappy"),
    "v2-zstd-dictionary": dict(version="2.6", data_page_version="2.0", compression="zstd"),
    "v1-none-plain": dict(version="1.0", compression="none", use_dictionary=False, column_encoding=flat),
    "v2-gzip-delta": dict(version="2.6", data_page_version="2.0", compression="gzip", use_dictionary=False, column_encoding=delta, store_decimal_as_integer=True),
    "v1-lz4-split": dict(version="2.6", compression="lz4", use_dictionary=False, column_encoding=split, store_decimal_as_integer=True),
    "v2-none-int96": dict(data_page_version="2.0", compression="none", use_deprecated_int96_timestamps=True),
}
for name, options in ways.items():
    if "column_encoding" in options:
        options["column_encoding"] = {**options["column_encoding"], "nested.list.element": "PLAIN"}
    pq.write_table(table, name + ".parquet", row_group_size=10, data_page_size=64, write_batch_size=4, write_statistics=False, store_schema=False, **options)
pq.write_table(table, "v1-brotli.parquet", compression="brotli", store_schema=False)
