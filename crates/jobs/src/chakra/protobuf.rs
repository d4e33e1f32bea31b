//! The bytes of protobuf messages: fields one after the other, and never past their end.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed {
    /// Counted from the first byte of the file, unpacked.
    pub at: usize,
    pub why: &'static str,
}

/// What a field holds, as far as its bytes tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value<'a> {
    /// A varint: any integer of ordinary encoding, a truth value, an enumeration.
    Number(u64),
    Eight([u8; 8]),
    Four([u8; 4]),
    /// A text, a message, or a list of numbers in packed form.
    Bytes(Fields<'a>),
}

/// The rest of a message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    at: usize,
}

type Result<T> = std::result::Result<T, Malformed>;

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { rest: bytes, at: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    pub fn malformed<T>(&self, why: &'static str) -> Result<T> {
        Err(Malformed { at: self.at, why })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return self.malformed("the bytes end before the message does");
        };
        (self.rest, self.at) = (rest, self.at + length);
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        Ok(*taken.first_chunk().expect("as long as was asked for"))
    }

    pub fn varint(&mut self) -> Result<u64> {
        let begin = *self;
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            // The tenth byte has room for the last bit alone.
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        begin.malformed("a number of more than 64 bits")
    }

    /// What a length and as many bytes hold: a message in a file, a text in a message.
    pub fn counted(&mut self) -> Result<Fields<'a>> {
        let begin = *self;
        let length = self.varint()?;
        let Ok(length) = usize::try_from(length) else { return begin.malformed("a length beyond the bytes") };
        let at = self.at;
        if length > self.rest.len() {
            return begin.malformed("the bytes end before the message does");
        }
        Ok(Fields { rest: self.take(length)?, at })
    }

    /// The next field and its number, unless the message has ended.
    pub fn next(&mut self) -> Result<Option<(u64, Value<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let begin = *self;
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Eight(self.array()?),
            2 => Value::Bytes(self.counted()?),
            5 => Value::Four(self.array()?),
            _ => return begin.malformed("a field of no kind that messages have"),
        };
        match tag >> 3 {
            0 => begin.malformed("a field with the number 0"),
            number => Ok(Some((number, value))),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let largest = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(Fields::new(&largest).varint(), Ok(u64::MAX));
        let larger = [[0xff; 9].as_slice(), &[2]].concat();
        assert_eq!(Fields::new(&larger).varint().unwrap_err().why, "a number of more than 64 bits");
        assert_eq!(Fields::new(&[0xff; 11]).varint().unwrap_err().at, 0);
        assert_eq!(Fields::new(&[0xff; 3]).varint().unwrap_err().why, "the bytes end before the message does");
    }

    #[test]
    fn every_kind_of_field_is_told_apart_and_others_are_refused() {
        let bytes = [0x08, 150, 1, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 2, b'o', b'k', 0x25, 9, 8, 7, 6];
        let mut fields = Fields::new(&bytes);
        assert_eq!(fields.next(), Ok(Some((1, Value::Number(150)))));
        assert_eq!(fields.next(), Ok(Some((2, Value::Eight([1, 2, 3, 4, 5, 6, 7, 8])))));
        let Ok(Some((3, Value::Bytes(text)))) = fields.next() else { panic!("a text") };
        assert_eq!((text.bytes(), text.at), (b"ok".as_slice(), 14));
        assert_eq!(fields.next(), Ok(Some((4, Value::Four([9, 8, 7, 6])))));
        assert_eq!(fields.next(), Ok(None));
        for (bytes, why) in [
            ([0x0b, 0].as_slice(), "a field of no kind that messages have"),
            (&[0x00, 0], "a field with the number 0"),
            (&[0x0a, 5, 1], "the bytes end before the message does"),
            (&[0x0d, 5, 1], "the bytes end before the message does"),
        ] {
            assert_eq!(Fields::new(bytes).next().unwrap_err().why, why, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value: u64) {
            let bytes = varint(value);
            let mut fields = Fields::new(&bytes);
            prop_assert_eq!(fields.varint(), Ok(value));
            prop_assert!(fields.is_empty());
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut fields = Fields::new(&bytes);
            let mut found = 0;
            while let Ok(Some(_)) = fields.next() {
                found += 1;
            }
            prop_assert!(found <= bytes.len());
        }
    }
}
