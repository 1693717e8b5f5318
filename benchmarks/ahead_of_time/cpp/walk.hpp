// `walk` of svmstat/solver/exact/tableau.py in C++, with what it calls there, in events.py, basis.py, path.py
// and gram.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "smo.hpp"

namespace tableau {

constexpr Int MOST_CHANGES = 64, BLOCK = 64, WIDTH = MOST_CHANGES + 2;
constexpr double DEPENDENT = 1e-10;
enum Status : std::int8_t { AT_LOWER, AT_UPPER, FREE, FIXED };
enum Code : std::int8_t { ARRIVED, TOO_MANY_EVENTS, NO_COMPENSATION, BASIS_FULL, UNSTABLE };

struct Tableau {
    Int w;
    const double *T, *T_b, *side, *diagonal;
    INLINED const double *row(Int i) const { return T + i * w; }
};

struct Point {
    double *beta, *g, *lo, *hi;
    std::int8_t *status;
    double *b;
};

struct Change {
    const double *lo, *hi;
};

// The rows E that have changed sides, and T_EE.
struct Changed {
    Int e = 0, rows[WIDTH];
    double block[WIDTH][WIDTH];
    std::vector<Int> where;

    explicit Changed(Int w) : where(w, -1) {}

    INLINED void change_side(const Tableau &t, Int i) {
        if (where[i] < 0) {
            const double *row = t.row(i);
            for (Int a = 0; a < e; a++) {
                block[e][a] = row[rows[a]];
                block[a][e] = t.side[i] * t.side[rows[a]] * row[rows[a]];
            }
            block[e][e] = row[i];
            rows[e] = i;
            where[i] = e++;
            return;
        }
        Int a = where[i], last = e - 1;
        for (Int c = 0; c < e; c++) block[a][c] = block[last][c];
        for (Int c = 0; c < e; c++) block[c][a] = block[c][last];
        rows[a] = rows[last];
        where[rows[a]] = a;
        where[i] = -1;
        e = last;
    }
};

// LU factors with partial pivoting; on the diagonal the reciprocals of the pivots.
struct Factors {
    double matrix[WIDTH][WIDTH];
    Int pivots[WIDTH];

    INLINED bool factor(const Changed &changed) {
        Int e = changed.e;
        for (Int a = 0; a < e; a++) std::copy_n(changed.block[a], e, matrix[a]);
        for (Int c = 0; c < e; c++) {
            Int p = c;
            for (Int a = c + 1; a < e; a++)
                if (std::abs(matrix[a][c]) > std::abs(matrix[p][c])) p = a;
            pivots[c] = p;
            if (matrix[p][c] == 0.0) return false;
            if (p != c) std::swap_ranges(matrix[c], matrix[c] + e, matrix[p]);
            matrix[c][c] = 1.0 / matrix[c][c];
            for (Int a = c + 1; a < e; a++) {
                double factor = matrix[a][c] * matrix[c][c];
                matrix[a][c] = factor;
                for (Int k = c + 1; k < e; k++) matrix[a][k] -= factor * matrix[c][k];
            }
        }
        return true;
    }

    INLINED void solve(Int e, double *x) const {
        for (Int c = 0; c < e; c++) std::swap(x[c], x[pivots[c]]);
        for (Int c = 0; c < e; c++)
            for (Int a = c + 1; a < e; a++) x[a] -= matrix[a][c] * x[c];
        for (Int c = e - 1; c >= 0; c--) {
            x[c] *= matrix[c][c];
            for (Int a = 0; a < c; a++) x[a] -= matrix[a][c] * x[c];
        }
    }
};

// Σ_a coefficients[a] · T[:, rows[a]], with room for all rows that move.
struct Combination {
    std::vector<Int> rows;
    std::vector<double> coefficients;
    Int size = 0;

    explicit Combination(Int room) : rows(room), coefficients(room) {}

    INLINED void add(Int row, double coefficient) {
        rows[size] = row;
        coefficients[size++] = coefficient;
    }
};

INLINED void combine(const Tableau &t, const Combination &sum, Doubles out) {
    Int a = 0;
    for (; a + 4 <= sum.size; a += 4) {
        const Int *r = &sum.rows[a];
        Given r0 = t.row(r[0]), r1 = t.row(r[1]), r2 = t.row(r[2]), r3 = t.row(r[3]);
        double c0 = sum.coefficients[a] * t.side[r[0]], c1 = sum.coefficients[a + 1] * t.side[r[1]];
        double c2 = sum.coefficients[a + 2] * t.side[r[2]], c3 = sum.coefficients[a + 3] * t.side[r[3]];
        for (Int i = 0; i < t.w; i++) out[i] += c0 * r0[i] + c1 * r1[i] + c2 * r2[i] + c3 * r3[i];
    }
    for (; a < sum.size; a++) {
        Given row = t.row(sum.rows[a]);
        double c = sum.coefficients[a] * t.side[sum.rows[a]];
        for (Int i = 0; i < t.w; i++) out[i] += c * row[i];
    }
}

INLINED double rates(const Tableau &t, const Changed &changed, const double *v, Combination &sum, Doubles out) {
    for (Int a = 0; a < changed.e; a++) sum.add(changed.rows[a], v[a]);
    std::fill_n(out, t.w, 0.0);
    combine(t, sum, out);
    for (Int i = 0; i < t.w; i++) out[i] *= t.side[i];
    double b_rate = 0.0;
    for (Int a = 0; a < sum.size; a++) b_rate += sum.coefficients[a] * t.T_b[sum.rows[a]];
    for (Int a = 0; a < changed.e; a++) out[changed.rows[a]] = v[a];
    return b_rate;
}

struct Event {
    double when;
    Int row;
};

INLINED double time_for(double room, double pace, double noise, double never) {
    bool shrinks = pace > noise;
    return (shrinks ? smo::larger(room, 0.0) : never) / (shrinks ? pace : 1.0);
}

INLINED Event least(Given times, Int size, double before) {
    Event first{before, -1};
    for (Int a = 0; a < size; a++)
        if (times[a] < first.when) first = {times[a], a};
    return first;
}

INLINED Event first_free_event(const Point &point, const Change &change, const std::vector<Int> &free, Int n_free,
                               Given speed, double when, Doubles times) {
    for (Int a = 0; a < n_free; a++) {
        Int i = free[a];
        double above = time_for(point.hi[i] - point.beta[i], speed[a] - change.hi[i], 0.0, when);
        double below = time_for(point.beta[i] - point.lo[i], change.lo[i] - speed[a], 0.0, when);
        times[a] = smo::smaller(above, below);
    }
    return least(times, n_free, when);
}

INLINED Event first_bound_event(Int w, Given g, Given slope, Given outward, double noise, double when, Doubles times) {
    Event first{when, -1};
    for (Int start = 0; start < w; start += BLOCK) {
        Int size = std::min(BLOCK, w - start);
        int earlier = 0;
#pragma omp simd reduction(| : earlier)
        for (Int i = start; i < start + size; i++)
            earlier |= smo::larger(outward[i] * g[i], 0.0) < -outward[i] * slope[i] * first.when;
        if (!earlier) continue;
        for (Int a = 0; a < size; a++) {
            Int i = start + a;
            times[a] = time_for(outward[i] * g[i], -outward[i] * slope[i], noise, first.when);
        }
        Event next = least(times, size, first.when);
        if (next.row >= 0) first = {next.when, start + next.row};
    }
    return first;
}

INLINED double bound_rate(const Point &point, const Change &change, Int i) {
    return point.status[i] == AT_LOWER ? change.lo[i] : point.status[i] == AT_UPPER ? change.hi[i] : 0.0;
}

INLINED Int compensator(const Point &point, Int w, double total) {
    Int chosen = -1;
    for (Int i = 0; i < w; i++)
        if (point.hi[i] > point.lo[i] &&
            ((total < 0.0 && point.status[i] == AT_LOWER && (chosen < 0 || point.g[i] < point.g[chosen])) ||
             (total > 0.0 && point.status[i] == AT_UPPER && (chosen < 0 || point.g[i] > point.g[chosen]))))
            chosen = i;
    return chosen;
}

INLINED void to_bound(const Point &point, Int i, bool up) {
    point.status[i] = up ? AT_UPPER : AT_LOWER;
    point.beta[i] = up ? point.hi[i] : point.lo[i];
}

struct Slide {
    double room;
    Int blocking;
};

INLINED Slide slide(const Point &point, Int j, double inward, const std::vector<Int> &members, Int m, Given rate) {
    double room = inward > 0 ? point.hi[j] - point.beta[j] : point.beta[j] - point.lo[j], largest = 0.0;
    Int blocking = -1;
    for (Int a = 0; a < m; a++) largest = std::max(largest, std::abs(rate[a]));
    for (Int a = 0; a < m; a++) {
        if (std::abs(rate[a]) <= 1e-9 * largest) continue;
        Int i = members[a];
        double distance = std::max(((rate[a] > 0 ? point.hi[i] : point.lo[i]) - point.beta[i]) / rate[a], 0.0);
        if (distance < room || (blocking >= 0 && distance == room && std::abs(rate[a]) > std::abs(rate[blocking])))
            room = distance, blocking = a;
    }
    for (Int a = 0; a < m; a++) point.beta[members[a]] += room * rate[a];
    return {room, blocking};
}

INLINED void drop(Int i, std::vector<Int> &free, Int &n_free) {
    *std::find(free.begin(), free.begin() + n_free, i) = free[n_free - 1];
    n_free--;
}

struct Done {
    Code code;
    Int events;
};

CLONES Done walk(const Tableau &t, const Point &point, const Change &change, Int max_events) {
    Int w = t.w, n_free = 0, events = 0;
    Changed changed(w);
    Factors small;
    std::vector<double> rate(w), answer(w), outward(w), lo_end(w), hi_end(w), speed(w), times(w);
    std::vector<Int> free(w), moving;
    double v[WIDTH], remaining = 1.0;
    double *beta = point.beta, *g = point.g, *lo = point.lo, *hi = point.hi;
    for (Int i = 0; i < w; i++) {
        lo_end[i] = lo[i] + change.lo[i];
        hi_end[i] = hi[i] + change.hi[i];
        if (change.lo[i] != 0.0 || change.hi[i] != 0.0) moving.push_back(i);
        if (point.status[i] == FREE) {
            free[n_free++] = i;
        } else if (t.side[i] < 0.0) {
            if (changed.e == MOST_CHANGES) return {BASIS_FULL, 0};
            changed.change_side(t, i);
        }
        if (hi[i] > lo[i] || change.hi[i] > change.lo[i])
            outward[i] = point.status[i] == AT_LOWER ? 1.0 : point.status[i] == AT_UPPER ? -1.0 : 0.0;
    }
    Combination sum(static_cast<Int>(moving.size()) + WIDTH);

    while (true) {
        if (n_free == 0) {  // b moves to the row that can make up for what the bounds take
            double total = 0.0;
            for (Int i : moving) total += bound_rate(point, change, i);
            Int row = compensator(point, w, total);
            if (row < 0) return {NO_COMPENSATION, events};
            if (changed.e >= MOST_CHANGES) return {BASIS_FULL, events};
            double shift = g[row];
            point.b[0] -= shift;
            for (Int i = 0; i < w; i++) g[i] -= shift;
            point.status[row] = FREE;
            outward[row] = 0.0;
            free[n_free++] = row;
            changed.change_side(t, row);
            events++;
            continue;
        }
        if (!small.factor(changed)) return {UNSTABLE, events};

        std::fill_n(v, changed.e, 0.0);
        sum.size = 0;
        for (Int i : moving) {
            double pace = bound_rate(point, change, i);
            if (pace == 0.0) continue;
            if (changed.where[i] >= 0) {
                v[changed.where[i]] += pace;
            } else {
                sum.add(i, pace);
                for (Int a = 0; a < changed.e; a++)
                    v[a] -= pace * t.side[i] * t.side[changed.rows[a]] * t.row(i)[changed.rows[a]];
            }
        }
        small.solve(changed.e, v);
        double b_rate = rates(t, changed, v, sum, rate.data());
        double scale = std::abs(b_rate);
        for (Int a = 0; a < n_free; a++) {
            speed[a] = rate[free[a]];
            rate[free[a]] = 0.0;
            scale += std::abs(speed[a]) * t.diagonal[free[a]];
        }

        auto [until, place] = first_free_event(point, change, free, n_free, speed.data(), remaining, times.data());
        auto [when, row] = first_bound_event(w, g, rate.data(), outward.data(), 1e-13 * scale, until, times.data());
        if (row >= 0)
            place = -1;
        else if (place >= 0)
            row = free[place];

        for (Int i = 0; i < w; i++) g[i] += when * rate[i];
        for (Int a = 0; a < n_free; a++) beta[free[a]] += when * speed[a];
        point.b[0] += when * b_rate;
        remaining -= when;
        double left = row >= 0 ? remaining : 0.0;
        for (Int i : moving) {
            lo[i] = left > 0.0 ? lo_end[i] - left * change.lo[i] : lo_end[i];
            hi[i] = left > 0.0 ? hi_end[i] - left * change.hi[i] : hi_end[i];
            if (point.status[i] == AT_LOWER) beta[i] = lo[i];
            if (point.status[i] == AT_UPPER) beta[i] = hi[i];
        }
        if (row < 0) return {ARRIVED, events};
        if (++events > max_events) return {TOO_MANY_EVENTS, events};
        if (changed.e >= MOST_CHANGES) return {BASIS_FULL, events};

        if (place >= 0) {
            bool nearer = std::abs(hi[row] - beta[row]) <= std::abs(beta[row] - lo[row]);
            bool up = nearer && speed[place] - change.hi[row] > 0.0;
            to_bound(point, row, up);
            outward[row] = up ? -1.0 : 1.0;
            g[row] = 0.0;
            drop(row, free, n_free);
            changed.change_side(t, row);
            continue;
        }

        if (point.status[row] == FREE) return {UNSTABLE, events};  // only if something is not a number
        g[row] = 0.0;
        double inward = outward[row], sigma;
        sum.size = 0;
        scale = t.diagonal[row];
        if (changed.where[row] >= 0) {
            std::fill_n(v, changed.e, 0.0);
            v[changed.where[row]] = 1.0;
            small.solve(changed.e, v);
            sigma = v[changed.where[row]];
        } else {
            const double *T_row = t.row(row);
            for (Int a = 0; a < changed.e; a++) v[a] = -t.side[row] * t.side[changed.rows[a]] * T_row[changed.rows[a]];
            small.solve(changed.e, v);
            sigma = T_row[row];
            for (Int a = 0; a < changed.e; a++) {
                sigma += T_row[changed.rows[a]] * v[a];
                scale += std::abs(T_row[changed.rows[a]] * v[a]);
            }
            sum.add(row, 1.0);
        }
        if (sigma <= DEPENDENT * scale) {
            // The row depends on the free ones: β slides where no gradient changes, until a row stops it.
            b_rate = rates(t, changed, v, sum, answer.data());
            for (Int a = 0; a < n_free; a++) speed[a] = inward * answer[free[a]];
            auto [room, blocking] = slide(point, row, inward, free, n_free, speed.data());
            point.b[0] += inward * room * b_rate;
            if (blocking < 0) {
                to_bound(point, row, inward > 0);
                outward[row] = -inward;
                continue;
            }
            beta[row] += inward * room;
            Int stopped = free[blocking];
            bool up = speed[blocking] > 0;
            to_bound(point, stopped, up);
            outward[stopped] = up ? -1.0 : 1.0;
            g[stopped] = 0.0;
            drop(stopped, free, n_free);
            changed.change_side(t, stopped);
        }
        point.status[row] = FREE;
        outward[row] = 0.0;
        free[n_free++] = row;
        changed.change_side(t, row);
    }
}

}  // namespace tableau
