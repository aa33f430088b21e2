//! Functions called by the browser. The browser writes a message to the address returned by
//! `reserve`. Then `call` replaces the message with the reply, whose address `reply` returns. Only
//! integers cross this interface, and no pointer is dereferenced here.

#![expect(unsafe_code, reason = "an unmangled symbol can collide with another one")]

use std::cell::RefCell;

use crate::Engine;

thread_local! {
    static PAGE: RefCell<(Engine, Vec<u8>)> = RefCell::default();
}

/// Reserves memory for a message and returns its address.
#[unsafe(no_mangle)]
extern "C" fn reserve(length: usize) -> *mut u8 {
    PAGE.with_borrow_mut(|(_, buffer)| {
        buffer.clear();
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the message and returns the reply's length.
#[unsafe(no_mangle)]
extern "C" fn call() -> usize {
    PAGE.with_borrow_mut(|(engine, buffer)| {
        *buffer = engine.answer(buffer).into_bytes();
        buffer.len()
    })
}

#[unsafe(no_mangle)]
extern "C" fn reply() -> *const u8 {
    PAGE.with_borrow(|(_, buffer)| buffer.as_ptr())
}
