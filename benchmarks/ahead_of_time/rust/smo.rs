//! svmstat/solver/rough/smo.py in Rust; the reasons stand there.

const FAR: f64 = 1e300;
const FLAT: f64 = 1e-12;
const ZERO: f64 = 1e-300;

/// A maximum is no loop that LLVM divides, unless it is told that no number is NaN: it is kept in so many parts.
pub const LANES: usize = 16;

#[inline(always)]
pub fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
pub fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The most extreme of the values, or the start.
#[inline(always)]
pub fn extreme(values: &[f64], start: f64, pick: impl Fn(f64, f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut best = [start; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            best[lane] = pick(best[lane], chunk[lane]);
        }
    }
    best.iter().chain(rest).fold(start, |best, &value| pick(best, value))
}

#[inline(always)]
fn curvature(both: f64, between: f64) -> f64 {
    larger(both - 2.0 * between, FLAT * both.abs() + ZERO)
}

#[inline(always)]
fn promises(
    top: f64, h: &[f64], cannot_fall: &[f64], diagonal_i: f64, diagonal: &[f64], row_i: &[f64], gains: &mut [f64],
) -> f64 {
    let n = gains.len();
    let (h, cannot_fall, diagonal, row_i) = (&h[..n], &cannot_fall[..n], &diagonal[..n], &row_i[..n]);
    for k in 0..n {
        let slack = larger(top - (h[k] + cannot_fall[k]), 0.0);
        gains[k] = slack * slack / curvature(diagonal_i + diagonal[k], row_i[k]);
    }
    extreme(gains, 0.0, larger)
}

#[inline(always)]
fn move_h(
    h: &mut [f64], row_i: &[f64], row_j: &[f64], step: f64, cannot_rise: &[f64], cannot_fall: &[f64],
    rising: &mut [f64], falling: &mut [f64],
) -> (f64, f64) {
    let n = h.len();
    let (row_i, row_j, rising, falling) = (&row_i[..n], &row_j[..n], &mut rising[..n], &mut falling[..n]);
    let (cannot_rise, cannot_fall) = (&cannot_rise[..n], &cannot_fall[..n]);
    for k in 0..n {
        h[k] -= step * (row_i[k] - row_j[k]);
        rising[k] = h[k] + cannot_rise[k];
        falling[k] = h[k] + cannot_fall[k];
    }
    (extreme(rising, -FAR, larger), extreme(falling, FAR, smaller))
}

#[inline(always)]
fn place(values: &[f64], value: f64, places: &[f64], scratch: &mut [f64]) -> Option<usize> {
    let n = values.len();
    let (places, scratch) = (&places[..n], &mut scratch[..n]);
    for k in 0..n {
        scratch[k] = places[k] + if values[k] == value { 0.0 } else { FAR };
    }
    let found = extreme(scratch, FAR, smaller);
    (found < FAR).then_some(found as usize)
}

/// Returns the steps and the violation; gram is (n, n), the first p rows are one class.
#[inline(always)]
pub fn smo(
    gram: &[f64], p: usize, lo: &[f64], hi: &[f64], beta: &mut [f64], h: &mut [f64], tolerance: f64, max_steps: i64,
) -> (i64, f64) {
    let n = h.len();
    let row = |i: usize| &gram[i * n..(i + 1) * n];
    let places: Vec<f64> = (0..n).map(|k| k as f64).collect();
    let diagonal: Vec<f64> = (0..n).map(|k| row(k)[k]).collect();
    let mut cannot_rise: Vec<f64> = (0..n).map(|k| if beta[k] < hi[k] { 0.0 } else { -FAR }).collect();
    let mut cannot_fall: Vec<f64> = (0..n).map(|k| if beta[k] > lo[k] { 0.0 } else { FAR }).collect();
    let (mut rising, mut falling, mut gains) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let (mut step, mut i, mut j, mut steps) = (0.0, 0, 0, 0);
    loop {
        let mut class = 0..p;
        let mut moved = |c: std::ops::Range<usize>| {
            let (row_i, row_j) = (&row(i)[c.clone()], &row(j)[c.clone()]);
            let (rise, fall) = (&cannot_rise[c.clone()], &cannot_fall[c.clone()]);
            move_h(&mut h[c.clone()], row_i, row_j, step, rise, fall, &mut rising[c.clone()], &mut falling[c])
        };
        let (mut top, mut bottom) = moved(0..p);
        if p < n {
            let (other_top, other_bottom) = moved(p..n);
            if other_top - other_bottom > top - bottom {
                (class, top, bottom) = (p..n, other_top, other_bottom);
            }
        }
        if !(top - bottom > tolerance && steps < max_steps) {
            return (steps, top - bottom);
        }
        let c = || class.clone();
        let Some(found) = place(&rising[c()], top, &places, &mut falling) else { return (steps, f64::INFINITY) };
        i = class.start + found;
        let (row_i, fall) = (&row(i)[c()], &cannot_fall[c()]);
        let most = promises(top, &h[c()], fall, diagonal[i], &diagonal[c()], row_i, &mut gains[c()]);
        let Some(found) = place(&gains[c()], most, &places, &mut falling) else { return (steps, f64::INFINITY) };
        j = class.start + found;
        step = (top - h[j]) / curvature(diagonal[i] + diagonal[j], row(i)[j]);
        let (room_i, room_j) = (hi[i] - beta[i], beta[j] - lo[j]);
        step = smaller(smaller(step, room_i), room_j);
        if !(step >= 0.0 && (step * (top - h[j])).is_finite()) {
            return (steps, f64::INFINITY);
        }
        beta[i] = if step == room_i { hi[i] } else { beta[i] + step };
        beta[j] = if step == room_j { lo[j] } else { beta[j] - step };
        for k in [i, j] {
            cannot_rise[k] = if beta[k] < hi[k] { 0.0 } else { -FAR };
            cannot_fall[k] = if beta[k] > lo[k] { 0.0 } else { FAR };
        }
        steps += 1;
    }
}
