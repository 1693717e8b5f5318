# Columns of stats::poly and splines::ns, learnt from every 9th row of the mackerel data, at these and at new values.
# From the repository root:  Rscript tests/r/bases.R
library(splines)

data <- read.csv("svmstat/datasets/mackerel.csv")
x <- data$lon[seq(1, nrow(data), by = 9)]
new <- c(-16, -12.5, -8, -4.25, -1)

rows <- list()
add <- function(term, basis) {
  for (set in c("fit", "new")) {
    at <- if (set == "fit") unclass(basis)[seq(1, length(x), by = 7), , drop = FALSE] else predict(basis, new)
    for (j in seq_len(ncol(at))) {
      rows[[length(rows) + 1]] <<- data.frame(
        term = term, set = set, row = seq_len(nrow(at)), column = j, value = sprintf("%.15g", at[, j])
      )
    }
  }
}
add("poly(lon)", poly(x))
add("poly(lon, 4)", poly(x, 4))
add("poly(lon, degree=7)", poly(x, degree = 7))
add("ns(lon, df=1)", ns(x, df = 1))
add("ns(lon, 4)", ns(x, df = 4))
add("ns(lon, knots=[-9, -6.5])", ns(x, knots = c(-9, -6.5)))
add("ns(lon, df=3, lower_bound=-14, upper_bound=-2)", ns(x, df = 3, Boundary.knots = c(-14, -2)))
write.csv(do.call(rbind, rows), "tests/r/bases.csv", row.names = FALSE, quote = c(1, 2))
