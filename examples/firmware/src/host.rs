//! The host, reached through the debugger: its files and its standard output.
//!
//! These are calls of Arm's semihosting as its specification has them, which RISC-V took over. The functions around them in
//! the crate `semihosting` can panic.

use core::ffi::CStr;

use semihosting::fd::RawFd;
use semihosting::sys::arm_compat::OpenMode;
use semihosting::sys::arm_compat::syscall::{
    OperationNumber, ParamRegR, ParamRegW, syscall, syscall_readonly,
};

use crate::failure::Failure;

/// Bytes of the longest command line, the byte 0 at its end among them.
const COMMAND_LINE: usize = 256;

/// A file of the host, read from its start.
#[derive(Debug)]
pub struct File(RawFd);

impl File {
    /// Opens the file that the command line ends with: QEMU's `-append FILE`.
    ///
    /// # Errors
    ///
    /// When there is no such argument, and when the host cannot open the file.
    pub fn from_command_line() -> Result<Self, Failure> {
        let mut line = [0; COMMAND_LINE];
        let name = last_word(command_line(&mut line)?).ok_or(Failure::NoFileName)?;
        open(name, OpenMode::RDONLY_BINARY).map(Self).ok_or(Failure::Host)
    }

    /// Reads the next bytes: as many as fit, but for the end of the file, where none come.
    ///
    /// # Errors
    ///
    /// When the host cannot read.
    pub fn read<'b>(&mut self, buffer: &'b mut [u8]) -> Result<&'b [u8], Failure> {
        let room = buffer.len();
        let mut block = [ParamRegW::raw_fd(self.0), ParamRegW::buf(buffer), ParamRegW::usize(room)];
        // SAFETY: the host writes into the buffer, no more than the bytes it is told of.
        let result = unsafe { syscall(OperationNumber::SYS_READ, ParamRegW::block(&mut block)) };
        // It says how many bytes of the buffer are left.
        let count = room.checked_sub(result.usize()).ok_or(Failure::Host)?;
        buffer.get(..count).ok_or(Failure::Host)
    }
}

/// The standard output of the host.
#[derive(Debug)]
pub(crate) struct Output(RawFd);

impl Output {
    pub(crate) fn open() -> Option<Self> {
        open(c":tt", OpenMode::WRONLY_TRUNC).map(Self)
    }

    /// Writes bytes, as far as the host takes them.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let block = [ParamRegR::raw_fd(self.0), ParamRegR::buf(bytes), ParamRegR::usize(bytes.len())];
        // SAFETY: the host only reads, and no more than the bytes it is told of.
        unsafe { syscall_readonly(OperationNumber::SYS_WRITE, ParamRegR::block(&block)) };
    }
}

fn open(name: &CStr, mode: OpenMode) -> Option<RawFd> {
    let block = [ParamRegR::c_str(name), ParamRegR::usize(mode as usize), ParamRegR::c_str_len(name)];
    // SAFETY: the host only reads, and no more than the bytes it is told of.
    unsafe { syscall_readonly(OperationNumber::SYS_OPEN, ParamRegR::block(&block)) }.raw_fd()
}

/// The program's own name and its arguments, with a byte 0 at the end.
fn command_line(line: &mut [u8; COMMAND_LINE]) -> Result<&CStr, Failure> {
    let mut block = [ParamRegW::buf(line), ParamRegW::usize(COMMAND_LINE)];
    // SAFETY: the host writes into the line, no more than the bytes it is told of, and the length into the block.
    let result = unsafe { syscall(OperationNumber::SYS_GET_CMDLINE, ParamRegW::block(&mut block)) };
    if result.usize() != 0 {
        return Err(Failure::NoFileName);
    }
    CStr::from_bytes_until_nul(line).map_err(|_| Failure::NoFileName)
}

/// What stands behind the last space; `None` where there is no space.
fn last_word(line: &CStr) -> Option<&CStr> {
    let bytes = line.to_bytes_with_nul();
    let space = bytes.iter().rposition(|byte| *byte == b' ')?;
    CStr::from_bytes_until_nul(bytes.get(space.checked_add(1)?..)?).ok()
}
