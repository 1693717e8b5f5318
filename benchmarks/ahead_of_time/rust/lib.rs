//! What C, and so Python's ctypes, sees of the Rust kernels. No crate is needed, and no Python to build it.
//!
//! With `--cfg dispatch` each kernel is compiled for two sets of instructions, one of which is taken at the call; a third
//! for AVX-512 made nothing faster.

#![allow(clippy::too_many_arguments, clippy::missing_safety_doc)]

mod smo;
mod walk;

use std::slice::{from_raw_parts, from_raw_parts_mut};
use walk::{Change, Code, Point, Tableau};

macro_rules! versions {
    ($name:ident, $kernel:path, ($($argument:ident: $type:ty),*) -> $result:ty) => {
        fn $name($($argument: $type),*) -> $result {
            #[cfg(all(dispatch, target_arch = "x86_64"))]
            {
                #[target_feature(enable = "avx2")]
                fn v3($($argument: $type),*) -> $result {
                    $kernel($($argument),*)
                }
                if is_x86_feature_detected!("avx2") {
                    return unsafe { v3($($argument),*) };
                }
            }
            $kernel($($argument),*)
        }
    };
}

versions!(any_smo, smo::smo, (
    gram: &[f64], p: usize, lo: &[f64], hi: &[f64], beta: &mut [f64], h: &mut [f64], tolerance: f64, max_steps: i64
) -> (i64, f64));
versions!(any_walk, walk::walk, (
    tableau: &Tableau, point: &mut Point, change: &Change, max_events: i64
) -> (Code, i64));

#[unsafe(no_mangle)]
pub unsafe extern "C" fn smo(
    gram: *const f64, n: usize, p: usize, lo: *const f64, hi: *const f64, beta: *mut f64, h: *mut f64, tolerance: f64,
    max_steps: i64, violation: &mut f64,
) -> i64 {
    let (gram, lo, hi) = unsafe { (from_raw_parts(gram, n * n), from_raw_parts(lo, n), from_raw_parts(hi, n)) };
    let (beta, h) = unsafe { (from_raw_parts_mut(beta, n), from_raw_parts_mut(h, n)) };
    let (steps, left) = any_smo(gram, p, lo, hi, beta, h, tolerance, max_steps);
    *violation = left;
    steps
}

#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn walk_all(
    w: usize, k: usize, T: *const f64, T_b: *const f64, side: *const f64, diagonal: *const f64, beta: *mut f64,
    g: *mut f64, lo: *mut f64, hi: *mut f64, status: *mut i8, b: *mut f64, dlo: *const f64, dhi: *const f64,
    max_events: i64, code: *mut i8, events: *mut i64,
) {
    let given = |start, n| unsafe { from_raw_parts(start, n) };
    let (side, diagonal) = (given(side, w), given(diagonal, w));
    let tableau = Tableau { T: given(T, w * w), T_b: given(T_b, w), side, diagonal };
    for q in 0..k {
        unsafe {
            let of = |start: *mut f64| from_raw_parts_mut(start.add(q * w), w);
            let status = from_raw_parts_mut(status.add(q * w), w);
            let mut point = Point { beta: of(beta), g: of(g), lo: of(lo), hi: of(hi), status, b: &mut *b.add(q) };
            let change = Change { lo: given(dlo.add(q * w), w), hi: given(dhi.add(q * w), w) };
            let (how, many) = any_walk(&tableau, &mut point, &change, max_events);
            *code.add(q) = how as i8;
            *events.add(q) = many;
        }
    }
}
