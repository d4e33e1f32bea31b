//! A table of results as Arrow has it, without a copy.

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use std::collections::HashMap;
use std::sync::Arc;
use xoff_results::collect::{Collected, CollectedColumn, Values};

/// A table of results in the memory layout of Apache Arrow.
///
/// pandas, polars, DuckDB, pyarrow and whatever else knows Arrow's PyCapsule interface read it where it lies:
/// ``polars.DataFrame(run.flows)``, ``pyarrow.table(run.flows)``, ``duckdb.sql("FROM flows")``.
#[pyclass(frozen, module = "xoff")]
pub struct Table {
    name: String,
    batch: RecordBatch,
}

impl Table {
    /// Moves the columns; only what describes them is new.
    pub fn of(collected: Collected) -> PyResult<Table> {
        let table = collected.table;
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (column, about) in collected.columns.into_iter().zip(table.columns) {
            let nullable = column.valid.is_some();
            let array = array(column, collected.rows).map_err(arrow)?;
            let mut facts = HashMap::from([("meaning".to_owned(), about.meaning.to_owned())]);
            if !about.unit.is_empty() {
                facts.insert("unit".to_owned(), about.unit.to_owned());
            }
            fields.push(Field::new(about.name, array.data_type().clone(), nullable).with_metadata(facts));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(arrow)?;
        Ok(Table { name: table.name.to_owned(), batch })
    }
}

impl Table {
    fn array(&self, name: &str) -> PyResult<&ArrayRef> {
        let missing = || PyKeyError::new_err(format!("`{}` has no column `{name}`", self.name));
        self.batch.column_by_name(name).ok_or_else(missing)
    }
}

/// Name of a column, its kind, whether cells may be empty, and its meaning.
type Facts = (String, String, bool, HashMap<String, String>);
/// Name and columns.
type Parts<'py> = (String, Vec<(Facts, Bound<'py, PyAny>)>);

fn kind(field: &Field) -> &'static str {
    match field.data_type() {
        DataType::Int64 => "integer",
        DataType::Float64 => "float",
        _ => "text",
    }
}

fn words(values: Vec<Option<String>>) -> ArrayRef {
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    values.into_iter().for_each(|word| words.append_option(word));
    Arc::new(words.finish())
}

fn arrow(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn array(column: CollectedColumn, rows: usize) -> Result<ArrayRef, ArrowError> {
    let valid = column.valid.map(|bits| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, rows)));
    Ok(match column.values {
        Values::Integers(values) => Arc::new(Int64Array::try_new(ScalarBuffer::from(values), valid)?),
        Values::Reals(values) => Arc::new(Float64Array::try_new(ScalarBuffer::from(values), valid)?),
        Values::Texts(texts) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(texts.offsets));
            let words = StringArray::try_new(offsets, Buffer::from_vec(texts.bytes), None)?;
            let codes = Int32Array::try_new(ScalarBuffer::from(texts.codes), valid)?;
            Arc::new(DictionaryArray::<Int32Type>::try_new(codes, Arc::new(words))?)
        }
    })
}

#[pymethods]
impl Table {
    /// A table of columns given as lists of numbers, texts or ``None``.
    #[staticmethod]
    #[pyo3(name = "_of_columns")]
    fn of_columns(name: String, columns: &Bound<'_, PyDict>) -> PyResult<Table> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
        for (key, values) in columns {
            let key: String = key.extract()?;
            let array: ArrayRef = if let Ok(values) = values.extract::<Vec<Option<i64>>>() {
                Arc::new(Int64Array::from(values))
            } else if let Ok(values) = values.extract::<Vec<Option<f64>>>() {
                Arc::new(Float64Array::from(values))
            } else if let Ok(values) = values.extract::<Vec<Option<String>>>() {
                words(values)
            } else {
                return Err(PyTypeError::new_err(format!("column `{key}` is neither of numbers nor of texts")));
            };
            fields.push(Field::new(key, array.data_type().clone(), true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(arrow)?;
        Ok(Table { name, batch })
    }

    /// What [`Table::of_parts`] makes it from, in another process.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, own) = (slf.py(), slf.get());
        let mut columns = Vec::new();
        for field in own.batch.schema().fields() {
            let fact = |key: &str| Some((key.to_owned(), field.metadata().get(key)?.clone()));
            let said = ["meaning", "unit"].into_iter().filter_map(fact).collect();
            let facts: Facts = (field.name().clone(), kind(field).to_owned(), field.is_nullable(), said);
            columns.push((facts, own.column(py, field.name())?.into_any()));
        }
        Ok((slf.get_type().getattr("_of_parts")?, (own.name.clone(), columns)))
    }

    #[staticmethod]
    #[pyo3(name = "_of_parts")]
    fn of_parts(name: String, columns: Vec<(Facts, Bound<'_, PyAny>)>) -> PyResult<Table> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
        for ((column, kind, nullable, facts), values) in columns {
            let array: ArrayRef = match kind.as_str() {
                "integer" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
                "float" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
                _ => words(values.extract()?),
            };
            fields.push(Field::new(column, array.data_type().clone(), nullable).with_metadata(facts));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(arrow)?;
        Ok(Table { name, batch })
    }

    /// Flows that never were, to see how a large table travels.
    #[staticmethod]
    #[pyo3(name = "_made_up_flows")]
    fn made_up_flows(py: Python<'_>, rows: usize) -> PyResult<Table> {
        Table::of(py.detach(|| Collected::made_up_flows(rows)))
    }

    /// Arrow's PyCapsule interface: all rows as one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers that ask for another layout convert it themselves, as the interface says.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Arrow's PyCapsule interface: names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(arrow)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// What the table is called: ``flows``, ``series``, ``pauses``, ``pfc`` or ``ports``.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// What every column means, and its unit where it has one.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for field in self.batch.schema().fields() {
            let facts = field.metadata();
            let meaning = facts.get("meaning").map_or("", String::as_str);
            let text = match facts.get("unit") {
                Some(unit) => format!("{meaning} [{unit}]"),
                None => meaning.to_owned(),
            };
            all.set_item(field.name(), text)?;
        }
        Ok(all)
    }

    /// A column as a list of Python values; for anything large, use a data frame.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let array = self.array(name)?;
        let any = array.as_any();
        if let Some(values) = any.downcast_ref::<Int64Array>() {
            PyList::new(py, values.iter().collect::<Vec<_>>())
        } else if let Some(values) = any.downcast_ref::<Float64Array>() {
            PyList::new(py, values.iter().collect::<Vec<_>>())
        } else if let Some(values) = any.downcast_ref::<DictionaryArray<Int32Type>>()
            && let Some(words) = values.downcast_dict::<StringArray>()
        {
            PyList::new(py, words.into_iter().collect::<Vec<_>>())
        } else {
            Err(PyTypeError::new_err(format!("`{name}` is of the kind {}", array.data_type())))
        }
    }

    /// A column of numbers as the bytes of doubles, empty cells as nan.
    #[pyo3(name = "_reals")]
    fn reals<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let any = self.array(name)?.as_any();
        let bytes: Vec<u8> = if let Some(values) = any.downcast_ref::<Int64Array>() {
            values.iter().flat_map(|value| value.map_or(f64::NAN, |value| value as f64).to_ne_bytes()).collect()
        } else if let Some(values) = any.downcast_ref::<Float64Array>() {
            values.iter().flat_map(|value| value.unwrap_or(f64::NAN).to_ne_bytes()).collect()
        } else {
            return Err(PyTypeError::new_err(format!("`{name}` has no numbers")));
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// A pandas data frame over the same memory: numbers as Arrow-backed columns, words as categories.
    ///
    /// With ``numpy=True`` numbers become NumPy arrays, as older code expects; empty cells are then ``nan``, and
    /// columns are copied.
    #[pyo3(signature = (*, numpy=false))]
    fn to_pandas<'py>(slf: &Bound<'py, Self>, numpy: bool) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("xoff._words")?.call_method1("to_pandas", (slf, numpy))
    }

    /// A polars data frame over the same memory.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("xoff._words")?.call_method1("to_polars", (slf,))
    }

    /// A ``pyarrow.Table`` over the same memory.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("xoff._words")?.call_method1("to_arrow", (slf,))
    }

    fn __repr__(&self) -> String {
        let schema = self.batch.schema();
        let columns: Vec<String> =
            schema.fields().iter().map(|field| format!("  {}: {}", field.name(), kind(field))).collect();
        format!("xoff.Table {} of {} rows\n{}", self.name, self.batch.num_rows(), columns.join("\n"))
    }
}
