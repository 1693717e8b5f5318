// svmstat/solver/rough/smo.py in C++; the reasons stand there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#define INLINED [[gnu::always_inline]] inline  // so that a helper has the instructions of its caller
#ifndef CLONES
#define CLONES  // or target_clones(…): a version for each set of instructions, chosen when the module is loaded
#endif

using Int = std::int64_t;
using Doubles = double *__restrict;
using Given = const double *__restrict;

namespace smo {

constexpr double FAR_AWAY = 1e300, FLAT = 1e-12, ZERO = 1e-300;

struct Ends {
    double top, bottom;
};

INLINED double larger(double a, double b) { return a > b ? a : b; }
INLINED double smaller(double a, double b) { return a < b ? a : b; }

INLINED double curvature(double both, double between) {
    return larger(both - 2.0 * between, FLAT * std::abs(both) + ZERO);
}

INLINED double promises(double top, Given h, Given cannot_fall, double diagonal_i, Given diagonal, Given row_i,
                        Doubles gains, Int first, Int stop) {
    double most = 0.0;
#pragma omp simd reduction(max : most)
    for (Int k = first; k < stop; k++) {
        double slack = larger(top - (h[k] + cannot_fall[k]), 0.0);
        gains[k] = slack * slack / curvature(diagonal_i + diagonal[k], row_i[k]);
        most = larger(most, gains[k]);
    }
    return most;
}

INLINED Ends move_h(Doubles h, const double *row_i, const double *row_j, double step, Given cannot_rise,
                    Given cannot_fall, Doubles rising, Int first, Int stop) {
    double top = -FAR_AWAY, bottom = FAR_AWAY;
#pragma omp simd reduction(max : top) reduction(min : bottom)
    for (Int k = first; k < stop; k++) {
        double value = h[k] - step * (row_i[k] - row_j[k]);
        h[k] = value;
        rising[k] = value + cannot_rise[k];
        top = larger(top, rising[k]);
        bottom = smaller(bottom, value + cannot_fall[k]);
    }
    return {top, bottom};
}

INLINED Int place(Given values, double value, Given places, Int first, Int stop) {
    double found = FAR_AWAY;
#pragma omp simd reduction(min : found)
    for (Int k = first; k < stop; k++) found = smaller(found, places[k] + (values[k] == value ? 0.0 : FAR_AWAY));
    return found < static_cast<double>(stop) ? static_cast<Int>(found) : -1;
}

struct Done {
    Int steps;
    double violation;
};

CLONES Done smo(Given gram, Int n, Int p, Given lo, Given hi, Doubles beta, Doubles h, double tolerance,
                Int max_steps) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> diagonal(n), places(n), cannot_rise(n), cannot_fall(n), rising(n), gains(n);
    auto mark = [&](Int k) __attribute__((always_inline)) {
        cannot_rise[k] = beta[k] < hi[k] ? 0.0 : -FAR_AWAY;
        cannot_fall[k] = beta[k] > lo[k] ? 0.0 : FAR_AWAY;
    };
    for (Int k = 0; k < n; k++) {
        diagonal[k] = gram[k * n + k];
        places[k] = static_cast<double>(k);
        mark(k);
    }
    double step = 0.0;
    Int i = 0, j = 0, steps = 0;
    while (true) {
        const double *row_i = gram + i * n, *row_j = gram + j * n;
        Int first = 0, stop = p;
        auto [top, bottom] = move_h(h, row_i, row_j, step, cannot_rise.data(), cannot_fall.data(), rising.data(), 0, p);
        if (p < n) {
            Ends other =
                move_h(h, row_i, row_j, step, cannot_rise.data(), cannot_fall.data(), rising.data(), p, n);
            if (other.top - other.bottom > top - bottom) first = p, stop = n, top = other.top, bottom = other.bottom;
        }
        if (!(top - bottom > tolerance && steps < max_steps)) return {steps, top - bottom};
        i = place(rising.data(), top, places.data(), first, stop);
        if (i < 0) return {steps, infinite};
        row_i = gram + i * n;
        double most =
            promises(top, h, cannot_fall.data(), diagonal[i], diagonal.data(), row_i, gains.data(), first, stop);
        j = place(gains.data(), most, places.data(), first, stop);
        if (j < 0) return {steps, infinite};
        step = (top - h[j]) / curvature(diagonal[i] + diagonal[j], row_i[j]);
        double room_i = hi[i] - beta[i], room_j = beta[j] - lo[j];
        step = std::min({step, room_i, room_j});
        if (!(step >= 0.0 && std::isfinite(step * (top - h[j])))) return {steps, infinite};
        beta[i] = step == room_i ? hi[i] : beta[i] + step;
        beta[j] = step == room_j ? lo[j] : beta[j] - step;
        mark(i);
        mark(j);
        steps++;
    }
}

}  // namespace smo
