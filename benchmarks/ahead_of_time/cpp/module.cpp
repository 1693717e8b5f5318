// What Python sees of the C++ kernels, by nanobind: shapes and types are checked at the call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include "smo.hpp"
#include "walk.hpp"

namespace nb = nanobind;
template <class T, int dimensions>
using Array = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Vector = Array<double, 1>;
using Matrix = Array<double, 2>;

std::pair<Int, double> call_smo(Matrix gram, Int p, Vector lo, Vector hi, Vector beta, Vector h, double tolerance,
                                Int max_steps) {
    nb::gil_scoped_release released;
    auto done = smo::smo(gram.data(), static_cast<Int>(h.size()), p, lo.data(), hi.data(), beta.data(), h.data(),
                         tolerance, max_steps);
    return {done.steps, done.violation};
}

void walk_all(Matrix T, Vector T_b, Vector side, Vector diagonal, Matrix beta, Matrix g, Matrix lo, Matrix hi,
              Array<std::int8_t, 2> status, Vector b, Matrix dlo, Matrix dhi, Int max_events,
              Array<std::int8_t, 1> code, Array<Int, 1> events) {
    nb::gil_scoped_release released;
    auto w = static_cast<Int>(side.size());
    tableau::Tableau t{w, T.data(), T_b.data(), side.data(), diagonal.data()};
    for (Int q = 0; q < static_cast<Int>(b.size()); q++) {
        Int at = q * w;
        tableau::Point point{beta.data() + at, g.data() + at,      lo.data() + at,
                             hi.data() + at,   status.data() + at, b.data() + q};
        auto done = tableau::walk(t, point, {dlo.data() + at, dhi.data() + at}, max_events);
        code.data()[q] = done.code;
        events.data()[q] = done.events;
    }
}

NB_MODULE(MODULE, module) {
    module.def("smo", &call_smo);
    module.def("walk_all", &walk_all);
}
