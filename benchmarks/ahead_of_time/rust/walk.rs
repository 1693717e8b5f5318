//! `walk` of svmstat/solver/exact/tableau.py in Rust, with what it calls there, in events.py, basis.py,
//! path.py and gram.py.

use crate::smo::{larger, smaller};

const MOST_CHANGES: usize = 64;
const WIDTH: usize = MOST_CHANGES + 2;
const BLOCK: usize = 64;
const DEPENDENT: f64 = 1e-10;

const AT_LOWER: i8 = 0;
const AT_UPPER: i8 = 1;
const FREE: i8 = 2;

#[repr(i8)]
pub enum Code {
    Arrived,
    TooManyEvents,
    NoCompensation,
    BasisFull,
    Unstable,
}

#[allow(non_snake_case)]
pub struct Tableau<'a> {
    pub T: &'a [f64],
    pub T_b: &'a [f64],
    pub side: &'a [f64],
    pub diagonal: &'a [f64],
}

impl<'a> Tableau<'a> {
    #[inline(always)]
    fn row(&self, i: usize) -> &'a [f64] {
        let w = self.side.len();
        &self.T[i * w..(i + 1) * w]
    }
}

pub struct Point<'a> {
    pub beta: &'a mut [f64],
    pub g: &'a mut [f64],
    pub lo: &'a mut [f64],
    pub hi: &'a mut [f64],
    pub status: &'a mut [i8],
    pub b: &'a mut f64,
}

impl Point<'_> {
    #[inline(always)]
    fn bound_rate(&self, change: &Change, i: usize) -> f64 {
        match self.status[i] {
            AT_LOWER => change.lo[i],
            AT_UPPER => change.hi[i],
            _ => 0.0,
        }
    }

    #[inline(always)]
    fn to_bound(&mut self, i: usize, up: bool) {
        self.status[i] = if up { AT_UPPER } else { AT_LOWER };
        self.beta[i] = if up { self.hi[i] } else { self.lo[i] };
    }

    #[inline(always)]
    fn compensator(&self, total: f64) -> Option<usize> {
        let g = &self.g;
        let mut chosen: Option<usize> = None;
        for i in 0..g.len() {
            let sooner = match self.status[i] {
                AT_LOWER => total < 0.0 && chosen.is_none_or(|best| g[i] < g[best]),
                AT_UPPER => total > 0.0 && chosen.is_none_or(|best| g[i] > g[best]),
                _ => false,
            };
            if self.hi[i] > self.lo[i] && sooner {
                chosen = Some(i);
            }
        }
        chosen
    }

    /// How far, and the place of the free row that is at its bound, if it is not j.
    #[inline(always)]
    fn slide(&mut self, j: usize, inward: f64, members: &[usize], rates: &[f64]) -> (f64, Option<usize>) {
        let mut room = if inward > 0.0 { self.hi[j] - self.beta[j] } else { self.beta[j] - self.lo[j] };
        let mut blocking: Option<usize> = None;
        let largest = rates[..members.len()].iter().fold(0.0, |most, rate| larger(most, rate.abs()));
        for (a, (&i, &rate)) in members.iter().zip(rates).enumerate() {
            if rate.abs() > 1e-9 * largest {
                let bound = if rate > 0.0 { self.hi[i] } else { self.lo[i] };
                let distance = larger((bound - self.beta[i]) / rate, 0.0);
                let faster = blocking.is_some_and(|best| distance == room && rate.abs() > rates[best].abs());
                if distance < room || faster {
                    (room, blocking) = (distance, Some(a));
                }
            }
        }
        for (&i, rate) in members.iter().zip(rates) {
            self.beta[i] += room * rate;
        }
        (room, blocking)
    }
}

pub struct Change<'a> {
    pub lo: &'a [f64],
    pub hi: &'a [f64],
}

/// The rows E that have changed sides, where they stand among them, and T_EE.
struct Changed {
    rows: Vec<usize>,
    place: Vec<Option<usize>>,
    block: [[f64; WIDTH]; WIDTH],
}

impl Changed {
    #[inline(always)]
    fn change_side(&mut self, t: &Tableau, i: usize) {
        let (e, block) = (self.rows.len(), &mut self.block);
        let Some(a) = self.place[i] else {
            let row = t.row(i);
            for (a, &c) in self.rows.iter().enumerate() {
                block[e][a] = row[c];
                block[a][e] = t.side[i] * t.side[c] * row[c];
            }
            block[e][e] = row[i];
            self.place[i] = Some(e);
            self.rows.push(i);
            return;
        };
        let last = e - 1;
        block[a] = block[last];
        for row in block[..e].iter_mut() {
            row[a] = row[last];
        }
        self.rows.swap_remove(a);
        self.place[i] = None;
        if a < last {
            self.place[self.rows[a]] = Some(a);
        }
    }
}

/// LU factors with partial pivoting; on the diagonal the reciprocals of the pivots.
struct Factors {
    matrix: [[f64; WIDTH]; WIDTH],
    pivots: [usize; WIDTH],
}

impl Factors {
    #[inline(always)]
    fn factor(&mut self, changed: &Changed) -> bool {
        let (e, matrix) = (changed.rows.len(), &mut self.matrix);
        for a in 0..e {
            matrix[a][..e].copy_from_slice(&changed.block[a][..e]);
        }
        for c in 0..e {
            let mut p = c;
            for a in c + 1..e {
                if matrix[a][c].abs() > matrix[p][c].abs() {
                    p = a;
                }
            }
            self.pivots[c] = p;
            if matrix[p][c] == 0.0 {
                return false;
            }
            matrix.swap(c, p);
            matrix[c][c] = 1.0 / matrix[c][c];
            let (above, below) = matrix.split_at_mut(c + 1);
            let pivot = &above[c];
            for row in below[..e - c - 1].iter_mut() {
                row[c] *= pivot[c];
                for k in c + 1..e {
                    row[k] -= row[c] * pivot[k];
                }
            }
        }
        true
    }

    #[inline(always)]
    fn solve(&self, x: &mut [f64]) {
        let (e, matrix) = (x.len(), &self.matrix);
        for c in 0..e {
            x.swap(c, self.pivots[c]);
        }
        for c in 0..e {
            for a in c + 1..e {
                x[a] -= matrix[a][c] * x[c];
            }
        }
        for c in (0..e).rev() {
            x[c] *= matrix[c][c];
            for a in 0..c {
                x[a] -= matrix[a][c] * x[c];
            }
        }
    }
}

/// out = Σ_a coefficients[a] · T[:, rows[a]], four rows of T at a time.
#[inline(always)]
fn combine(t: &Tableau, terms: &[(usize, f64)], out: &mut [f64]) {
    let w = out.len();
    out.fill(0.0);
    let mut fours = terms.chunks_exact(4);
    for four in &mut fours {
        let [r0, r1, r2, r3] = std::array::from_fn(|a| &t.row(four[a].0)[..w]);
        let [c0, c1, c2, c3]: [f64; 4] = std::array::from_fn(|a| four[a].1 * t.side[four[a].0]);
        for i in 0..w {
            out[i] += c0 * r0[i] + c1 * r1[i] + c2 * r2[i] + c3 * r3[i];
        }
    }
    for &(row, coefficient) in fours.remainder() {
        let c = coefficient * t.side[row];
        for (value, each) in out.iter_mut().zip(t.row(row)) {
            *value += c * each;
        }
    }
    for (value, side) in out.iter_mut().zip(t.side) {
        *value *= side;
    }
}

/// How all rows, and b, answer the terms and the rows E, changed by v.
#[inline(always)]
fn rates(t: &Tableau, changed: &Changed, v: &[f64], terms: &mut Vec<(usize, f64)>, out: &mut [f64]) -> f64 {
    terms.extend(changed.rows.iter().copied().zip(v.iter().copied()));
    combine(t, terms, out);
    for (&row, &value) in changed.rows.iter().zip(v) {
        out[row] = value;
    }
    terms.iter().fold(0.0, |sum, &(row, coefficient)| sum + coefficient * t.T_b[row])
}

#[inline(always)]
fn time_for(room: f64, pace: f64, noise: f64, never: f64) -> f64 {
    let shrinks = pace > noise;
    (if shrinks { larger(room, 0.0) } else { never }) / (if shrinks { pace } else { 1.0 })
}

#[inline(always)]
fn least(times: &[f64], before: f64) -> (f64, Option<usize>) {
    let mut first = (before, None);
    for (a, &time) in times.iter().enumerate() {
        if time < first.0 {
            first = (time, Some(a));
        }
    }
    first
}

#[inline(always)]
fn first_free_event(
    point: &Point, change: &Change, free: &[usize], speed: &[f64], when: f64, times: &mut [f64],
) -> (f64, Option<usize>) {
    for (a, &i) in free.iter().enumerate() {
        let (beta, lo, hi) = (point.beta[i], point.lo[i], point.hi[i]);
        let above = time_for(hi - beta, speed[a] - change.hi[i], 0.0, when);
        let below = time_for(beta - lo, change.lo[i] - speed[a], 0.0, when);
        times[a] = smaller(above, below);
    }
    least(&times[..free.len()], when)
}

#[inline(always)]
fn first_bound_event(
    g: &[f64], slope: &[f64], outward: &[f64], noise: f64, when: f64, times: &mut [f64],
) -> (f64, Option<usize>) {
    let (mut first, mut row) = (when, None);
    for start in (0..g.len()).step_by(BLOCK) {
        let n = BLOCK.min(g.len() - start);
        let (g, slope, outward) = (&g[start..start + n], &slope[start..start + n], &outward[start..start + n]);
        let mut earlier = false;
        for i in 0..n {
            earlier |= larger(outward[i] * g[i], 0.0) < -outward[i] * slope[i] * first;
        }
        if !earlier {
            continue;
        }
        let times = &mut times[..n];
        for i in 0..n {
            times[i] = time_for(outward[i] * g[i], -outward[i] * slope[i], noise, first);
        }
        if let (when, Some(a)) = least(times, first) {
            (first, row) = (when, Some(start + a));
        }
    }
    (first, row)
}

#[inline(always)]
fn drop_from(free: &mut Vec<usize>, i: usize) {
    if let Some(a) = free.iter().position(|&each| each == i) {
        free.swap_remove(a);
    }
}

#[inline(always)]
pub fn walk(t: &Tableau, point: &mut Point, change: &Change, max_events: i64) -> (Code, i64) {
    let w = t.side.len();
    let mut changed = Changed { rows: Vec::with_capacity(WIDTH), place: vec![None; w], block: [[0.0; WIDTH]; WIDTH] };
    let mut small = Factors { matrix: [[0.0; WIDTH]; WIDTH], pivots: [0; WIDTH] };
    let (mut rate, mut answer, mut outward, mut speed) = (vec![0.0; w], vec![0.0; w], vec![0.0; w], vec![0.0; w]);
    let mut times = vec![0.0; w];
    let (mut free, mut moving) = (Vec::with_capacity(w), Vec::new());
    let lo_end: Vec<f64> = (0..w).map(|i| point.lo[i] + change.lo[i]).collect();
    let hi_end: Vec<f64> = (0..w).map(|i| point.hi[i] + change.hi[i]).collect();
    for i in 0..w {
        if change.lo[i] != 0.0 || change.hi[i] != 0.0 {
            moving.push(i);
        }
        if point.status[i] == FREE {
            free.push(i);
        } else if t.side[i] < 0.0 {
            if changed.rows.len() == MOST_CHANGES {
                return (Code::BasisFull, 0);
            }
            changed.change_side(t, i);
        }
        if point.hi[i] > point.lo[i] || change.hi[i] > change.lo[i] {
            outward[i] = match point.status[i] {
                AT_LOWER => 1.0,
                AT_UPPER => -1.0,
                _ => 0.0,
            };
        }
    }
    let mut terms: Vec<(usize, f64)> = Vec::with_capacity(moving.len() + WIDTH);
    let mut room_for_v = [0.0; WIDTH];
    let (mut remaining, mut events) = (1.0, 0);

    loop {
        if free.is_empty() {
            // b moves to the row that can make up for what the bounds take
            let total = moving.iter().fold(0.0, |sum, &i| sum + point.bound_rate(change, i));
            let Some(row) = point.compensator(total) else { return (Code::NoCompensation, events) };
            if changed.rows.len() >= MOST_CHANGES {
                return (Code::BasisFull, events);
            }
            let shift = point.g[row];
            *point.b -= shift;
            for each in point.g.iter_mut() {
                *each -= shift;
            }
            (point.status[row], outward[row]) = (FREE, 0.0);
            free.push(row);
            changed.change_side(t, row);
            events += 1;
            continue;
        }
        if !small.factor(&changed) {
            return (Code::Unstable, events);
        }

        let v = &mut room_for_v[..changed.rows.len()];
        v.fill(0.0);
        terms.clear();
        for &i in &moving {
            let pace = point.bound_rate(change, i);
            if pace == 0.0 {
                continue;
            }
            if let Some(a) = changed.place[i] {
                v[a] += pace;
            } else {
                terms.push((i, pace));
                for (value, &c) in v.iter_mut().zip(&changed.rows) {
                    *value -= pace * t.side[i] * t.side[c] * t.row(i)[c];
                }
            }
        }
        small.solve(v);
        let b_rate = rates(t, &changed, v, &mut terms, &mut rate);
        let mut scale = b_rate.abs();
        for (a, &i) in free.iter().enumerate() {
            speed[a] = rate[i];
            rate[i] = 0.0;
            scale += speed[a].abs() * t.diagonal[i];
        }

        let (until, mut place) = first_free_event(point, change, &free, &speed, remaining, &mut times);
        let (when, mut row) = first_bound_event(point.g, &rate, &outward, 1e-13 * scale, until, &mut times);
        if row.is_some() {
            place = None;
        } else {
            row = place.map(|a| free[a]);
        }

        for (g, slope) in point.g.iter_mut().zip(&rate) {
            *g += when * slope;
        }
        for (a, &i) in free.iter().enumerate() {
            point.beta[i] += when * speed[a];
        }
        *point.b += when * b_rate;
        remaining -= when;
        let left = if row.is_some() { remaining } else { 0.0 };
        for &i in &moving {
            point.lo[i] = if left > 0.0 { lo_end[i] - left * change.lo[i] } else { lo_end[i] };
            point.hi[i] = if left > 0.0 { hi_end[i] - left * change.hi[i] } else { hi_end[i] };
            match point.status[i] {
                AT_LOWER => point.beta[i] = point.lo[i],
                AT_UPPER => point.beta[i] = point.hi[i],
                _ => {}
            }
        }
        let Some(row) = row else { return (Code::Arrived, events) };
        events += 1;
        if events > max_events {
            return (Code::TooManyEvents, events);
        }
        if changed.rows.len() >= MOST_CHANGES {
            return (Code::BasisFull, events);
        }

        if let Some(a) = place {
            let (above, below) = (point.hi[row] - point.beta[row], point.beta[row] - point.lo[row]);
            let up = speed[a] - change.hi[row] > 0.0 && above.abs() <= below.abs();
            point.to_bound(row, up);
            outward[row] = if up { -1.0 } else { 1.0 };
            point.g[row] = 0.0;
            drop_from(&mut free, row);
            changed.change_side(t, row);
            continue;
        }

        if point.status[row] == FREE {
            return (Code::Unstable, events); // only if something is not a number
        }
        point.g[row] = 0.0;
        let inward = outward[row];
        terms.clear();
        scale = t.diagonal[row];
        let mut sigma;
        if let Some(a) = changed.place[row] {
            v.fill(0.0);
            v[a] = 1.0;
            small.solve(v);
            sigma = v[a];
        } else {
            let of_row = t.row(row);
            for (value, &c) in v.iter_mut().zip(&changed.rows) {
                *value = -t.side[row] * t.side[c] * of_row[c];
            }
            small.solve(v);
            sigma = of_row[row];
            for (value, &c) in v.iter().zip(&changed.rows) {
                sigma += of_row[c] * value;
                scale += (of_row[c] * value).abs();
            }
            terms.push((row, 1.0));
        }
        if sigma <= DEPENDENT * scale {
            // The row depends on the free ones: β slides where no gradient changes, until a row stops it.
            let b_rate = rates(t, &changed, v, &mut terms, &mut answer);
            for (a, &i) in free.iter().enumerate() {
                speed[a] = inward * answer[i];
            }
            let (room, blocking) = point.slide(row, inward, &free, &speed);
            *point.b += inward * room * b_rate;
            let Some(a) = blocking else {
                point.to_bound(row, inward > 0.0);
                outward[row] = -inward;
                continue;
            };
            point.beta[row] += inward * room;
            let (stopped, up) = (free[a], speed[a] > 0.0);
            point.to_bound(stopped, up);
            outward[stopped] = if up { -1.0 } else { 1.0 };
            point.g[stopped] = 0.0;
            drop_from(&mut free, stopped);
            changed.change_side(t, stopped);
        }
        (point.status[row], outward[row]) = (FREE, 0.0);
        free.push(row);
        changed.change_side(t, row);
    }
}
