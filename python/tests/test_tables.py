"""Tables reach data frames as they are, and where they are."""

import os

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import xoff


def test_columns_are_those_of_the_files(tmp_path, incast: xoff.Run) -> None:
    run = xoff.run("incast", set={"traffic.0.events": 3}, out=tmp_path / "run")
    for name in ["flows", "series", "pauses", "ports"]:
        table = getattr(run, name)
        file = pyarrow.parquet.read_table(tmp_path / "run" / f"{name}.parquet")
        assert table.columns == file.column_names and table.name == name
        plain = [field.type if not pyarrow.types.is_dictionary(field.type) else pyarrow.string()
                 for field in table.to_arrow().schema]
        assert plain == [field.type for field in file.schema]
        cast = table.to_arrow().cast(file.schema)
        assert cast.equals(file), name
    assert incast.flows.to_arrow().equals(run.flows.to_arrow())


def test_columns_say_what_they_mean(incast: xoff.Run) -> None:
    assert incast.flows.describe()["slowdown"] == "fct_us divided by ideal_us; 1 is perfect. [1]"
    assert incast.flows.to_arrow().schema.field("fct_us").metadata[b"unit"] == b"us"
    assert "slowdown: float" in repr(incast.flows)
    with pytest.raises(KeyError, match="no column `speed`"):
        incast.flows.column("speed")


def test_pandas(incast: xoff.Run) -> None:
    frame = incast.flows.to_pandas()
    assert frame.shape == (48, len(incast.flows.columns))
    assert frame.dtypes["label"] == "category"
    assert frame.groupby("label", observed=True)["slowdown"].max().tolist() == [max(incast.flows.column("slowdown"))]
    assert (frame[frame.dst_name == "h32"].size_bytes == 100_000).all()
    plain = incast.flows.to_pandas(numpy=True)
    assert plain.dtypes["slowdown"] == "float64" and plain.dtypes["src"] == "int64"
    assert plain["slowdown"].mean() == pytest.approx(frame["slowdown"].mean())


def test_empty_cells_are_missing(victim: xoff.Run) -> None:
    frame = victim.flows.to_pandas()
    endless = frame[frame.label == "victim F0"]
    assert endless.size_bytes.isna().all() and endless.slowdown.isna().all() and endless.goodput_gbps.notna().all()
    assert victim.flows.to_polars().filter(polars.col("label") == "victim F0")["size_bytes"].to_list() == [None]


def test_polars(incast: xoff.Run) -> None:
    frame = polars.DataFrame(incast.flows)
    assert frame.shape == (48, len(incast.flows.columns))
    assert frame["slowdown"].max() == max(incast.flows.column("slowdown"))
    assert frame.group_by("dst_name").len()["len"].to_list() == [48]
    assert frame.equals(incast.flows.to_polars())


def test_duckdb(incast: xoff.Run) -> None:
    flows = incast.flows
    found = duckdb.sql("SELECT dst_name, count(*), max(slowdown) FROM flows GROUP BY 1").fetchall()
    assert found == [("h32", 48, max(flows.column("slowdown")))]
    # And again: a table is not used up.
    assert duckdb.sql("SELECT count(*) FROM flows WHERE fct_us > 0").fetchall() == [(48,)]


def addresses(column: pyarrow.ChunkedArray) -> list[int]:
    assert column.num_chunks == 1
    return [buffer.address for buffer in column.chunk(0).buffers() if buffer is not None]


def test_many_flows_reach_pandas_and_polars_without_a_copy() -> None:
    rows = 10_000_000 if os.environ.get("XOFF_TESTS") == "all" else 1_000_000
    table = xoff.Table._made_up_flows(rows)
    assert len(table) == rows
    arrow = table.to_arrow()
    frame = table.to_pandas()
    numbers = [name for name in table.columns if not pyarrow.types.is_dictionary(arrow.schema.field(name).type)]
    assert len(numbers) > 20
    for name in numbers:
        # The memory of the simulator itself: twice exported, twice the same place.
        held = pyarrow.chunked_array(frame[name].array.__arrow_array__())
        assert addresses(held) == addresses(arrow[name]), name
    assert frame["fct_us"].isna().sum() == rows // 8
    other = polars.DataFrame(table)
    for name in numbers:
        if arrow[name].null_count == 0:
            # polars keeps validity in a form of its own.
            values = other[name].to_arrow().buffers()[1]
            assert values.address == addresses(arrow[name])[-1], name
