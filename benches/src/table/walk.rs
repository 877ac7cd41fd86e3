//! The least that a reader of a GGUF header can do: walk from length to length, and tell nothing.

use std::fs::File;
use std::io::Read;

/// A file, through a buffer.
pub(crate) struct Walk {
    file: File,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
}

impl Walk {
    pub(crate) fn new(file: File, buffer_bytes: usize) -> Self {
        Self { file, buffer: vec![0; buffer_bytes], at: 0, end: 0 }
    }

    /// Walks to the end of the descriptions, and returns the number of strings in arrays.
    pub(crate) fn header(mut self) -> u64 {
        let magic = self.u32();
        assert_eq!(magic.to_le_bytes(), *b"GGUF");
        let version = self.u32();
        assert!(version >= 2);
        let (tensors, keys) = (self.u64(), self.u64());
        let strings = (0..keys).map(|_| self.key()).sum();
        (0..tensors).for_each(|_| self.tensor());
        strings
    }

    fn key(&mut self) -> u64 {
        self.string();
        match self.u32() {
            8 => self.string(),
            9 => return self.array(),
            value_type => self.skip(size(value_type)),
        }
        0
    }

    fn array(&mut self) -> u64 {
        let (element, len) = (self.u32(), self.u64());
        if element != 8 {
            self.skip(len * size(element));
            return 0;
        }
        (0..len).for_each(|_| self.string());
        len
    }

    fn tensor(&mut self) {
        self.string();
        let dimensions = self.u32();
        // Besides the dimensions the type and the offset.
        self.skip(u64::from(dimensions) * 8 + 4 + 8);
    }

    fn string(&mut self) {
        let len = self.u64();
        self.skip(len);
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        if self.end - self.at < N {
            self.fill();
        }
        let bytes = *self.buffer[self.at..self.end].first_chunk().expect("the file is whole");
        self.at += N;
        bytes
    }

    fn skip(&mut self, mut bytes: u64) {
        while bytes > (self.end - self.at) as u64 {
            bytes -= (self.end - self.at) as u64;
            self.at = self.end;
            self.fill();
            assert_ne!(self.end, 0, "the file is whole");
        }
        self.at += bytes as usize;
    }

    /// Brings more, behind what is left.
    #[cold]
    fn fill(&mut self) {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        self.end += self.file.read(&mut self.buffer[self.end..]).expect("the file can be read");
    }
}

fn size(value_type: u32) -> u64 {
    match value_type {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        _ => panic!("no value type that is walked over: {value_type}"),
    }
}
