//! Converts JSON text to Python objects.
//!
//! The library has already checked the text: it is strict JSON without duplicate members. Text that this reader does
//! not understand is still an error. Integers of any size and floating-point numbers keep their value.

use jeton::error::codes;
use jeton_bindings::Fault;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNone, PyString};

use crate::fault::Failure;
use crate::names::Names;

/// The maximum nesting depth. The library's limit is lower, unless the caller raises it.
const DEEPEST: usize = 256;

/// The longest integer, in digits. Longer ones are slow to convert, and Python refuses them.
const LONGEST_INTEGER: usize = 4_000;

/// Reads the JSON text of claims, one object.
pub(crate) fn read<'py>(py: Python<'py>, text: &str) -> Result<Bound<'py, PyDict>, Failure> {
    let mut reader = Reader {
        py,
        text,
        at: 0,
        names: Names::lock(),
    };
    reader.skip_space();
    if reader.next() != Some(b'{') {
        return Err(shape());
    }
    let object = reader.object(0)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(object),
        Some(_) => Err(shape()),
    }
}

struct Reader<'py, 't> {
    py: Python<'py>,
    text: &'t str,
    at: usize,
    names: Names<'t>,
}

#[cold]
fn shape() -> Failure {
    unreadable("the claims have a value that Python cannot represent: use `verify_json`")
}

#[cold]
fn too_long() -> Failure {
    unreadable("the claims have an integer with too many digits for Python: use `verify_json`")
}

#[cold]
fn unreadable(why: &'static str) -> Failure {
    Fault::argument(&codes::TOKEN_CLAIMS_SHAPE, why).into()
}

impl<'py, 't> Reader<'py, 't> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Bound<'py, PyAny>, Failure> {
        self.skip_space();
        let start = self.at;
        match self.next() {
            Some(b'"') => Ok(self.string()?.into_any()),
            Some(b'{') => Ok(self.object(depth)?.into_any()),
            Some(b'[') => Ok(self.array(depth)?.into_any()),
            Some(b't') => self.word(
                start,
                "true",
                PyBool::new(self.py, true).to_owned().into_any(),
            ),
            Some(b'f') => self.word(
                start,
                "false",
                PyBool::new(self.py, false).to_owned().into_any(),
            ),
            Some(b'n') => self.word(start, "null", PyNone::get(self.py).to_owned().into_any()),
            Some(b'-' | b'0'..=b'9') => self.number(start),
            _ => Err(shape()),
        }
    }

    fn word(
        &mut self,
        start: usize,
        word: &str,
        value: Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        self.at = start + word.len();
        if self.text.get(start..self.at) == Some(word) {
            Ok(value)
        } else {
            Err(shape())
        }
    }

    /// Reads an object after its opening brace.
    fn object(&mut self, depth: usize) -> Result<Bound<'py, PyDict>, Failure> {
        if depth == DEEPEST {
            return Err(shape());
        }
        let object = PyDict::new(self.py);
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(object);
        }
        loop {
            self.skip_space();
            if self.next() != Some(b'"') {
                return Err(shape());
            }
            let name = self.name()?;
            self.skip_space();
            if self.next() != Some(b':') {
                return Err(shape());
            }
            let value = self.value(depth + 1)?;
            object.set_item(name, value)?;
            self.skip_space();
            match self.next() {
                Some(b',') => {}
                Some(b'}') => return Ok(object),
                _ => return Err(shape()),
            }
        }
    }

    /// Reads an array after its opening bracket.
    fn array(&mut self, depth: usize) -> Result<Bound<'py, PyList>, Failure> {
        if depth == DEEPEST {
            return Err(shape());
        }
        let array = PyList::empty(self.py);
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(array);
        }
        loop {
            array.append(self.value(depth + 1)?)?;
            self.skip_space();
            match self.next() {
                Some(b',') => {}
                Some(b']') => return Ok(array),
                _ => return Err(shape()),
            }
        }
    }

    fn name(&mut self) -> Result<Bound<'py, PyString>, Failure> {
        let (raw, has_escapes) = self.raw_string()?;
        if has_escapes {
            return Ok(PyString::new(self.py, &self.unescaped(raw)?));
        }
        Ok(self.names.get(self.py, raw))
    }

    fn string(&mut self) -> Result<Bound<'py, PyString>, Failure> {
        let (raw, has_escapes) = self.raw_string()?;
        if has_escapes {
            return Ok(PyString::new(self.py, &self.unescaped(raw)?));
        }
        Ok(PyString::new(self.py, raw))
    }

    /// Reads a string after its opening quote. Returns the raw text and whether it has escapes.
    fn raw_string(&mut self) -> Result<(&'t str, bool), Failure> {
        let (text, start) = (self.text, self.at);
        let mut has_escapes = false;
        let bytes = text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += 2;
                }
                Some(_) => self.at += 1,
                None => return Err(shape()),
            }
        }
        let raw = text.get(start..self.at).ok_or_else(shape)?;
        self.at += 1;
        Ok((raw, has_escapes))
    }

    /// Decodes the escapes of `raw`, the string that was read last.
    #[cold]
    fn unescaped(&self, raw: &str) -> Result<String, Failure> {
        let end = self.at;
        let start = end.checked_sub(raw.len() + 2).ok_or_else(shape)?;
        let quoted = self.text.get(start..end).ok_or_else(shape)?;
        serde_json::from_str(quoted).map_err(|_| shape())
    }

    fn number(&mut self, start: usize) -> Result<Bound<'py, PyAny>, Failure> {
        let mut is_float = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'0'..=b'9' => {}
                b'.' | b'e' | b'E' | b'+' | b'-' => is_float = true,
                _ => break,
            }
            self.at += 1;
        }
        let text = self.text.get(start..self.at).ok_or_else(shape)?;
        if is_float {
            return match text.parse::<f64>() {
                // A different number from the token's would be worse than an error.
                Ok(number) if number.is_finite() => Ok(PyFloat::new(self.py, number).into_any()),
                _ => Err(unreadable(
                    "the claims have a number that is too large for a float: use `verify_json`",
                )),
            };
        }
        if let Ok(number) = text.parse::<i64>() {
            return Ok(PyInt::new(self.py, number).into_any());
        }
        if text.len() > LONGEST_INTEGER {
            return Err(too_long());
        }
        // A program may have set a lower limit (`sys.set_int_max_str_digits`).
        let integer = self.py.get_type::<PyInt>().call1((text,));
        integer.map_err(|error| {
            if error.is_instance_of::<PyValueError>(self.py) {
                too_long()
            } else {
                error.into()
            }
        })
    }
}
