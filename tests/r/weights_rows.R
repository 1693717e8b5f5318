# Integer case weights as literally repeated rows (e1071 has no case weights); weight 0 = row left out.
# Scaling, SVM and Platt map all see the repeated rows. From the repository root:  Rscript tests/r/weights_rows.R
source("tests/r/common.R")

cases <- data.frame(
  dataset = c("mackerel", "mackerel", "mackerel", "mackerel", "mackerel", "liver_pnc", "liver_pnc", "forest", "forest"),
  kernel = c("rbf", "rbf", "rbf", "linear", "poly", "rbf", "linear", "rbf", "linear"),
  C = c(1, 16, 1e3, 1, 1, 16, 16, 1, 1), w_event = c(1, 1, 1, 1, 1, 1, 1, 3, 1), w_other = c(1, 1, 1, 1, 1, 1, 1, 0.5, 1)
)
cases$gamma <- gammas[cases$dataset]
cases$case <- seq_len(nrow(cases))
cases <- cases[c("case", "dataset", "kernel", "C", "gamma", "w_event", "w_other")]

run <- function(case) {
  data <- load_data(case$dataset)
  weight <- case_weights(length(data$event))
  rows <- rep(seq_along(weight), weight)
  X <- standardise(data$X[rows, ])
  newX <- standardise(data$X, train = data$X[rows, ])
  fit <- fit_svm(X, data$event[rows], case$kernel, case$C, case$gamma, case$w_event, case$w_other, newX)
  row <- seq(1, length(weight), by = if (length(weight) > 500) 7 else 3)
  list(row = row, f = fit$f[row], scalars = c(platt(fit$f[rows], data$event[rows]), unlist(fit[c("n_free", "kkt", "e1071_error")])))
}
write_reference(cases, run, "weights_rows")
