# Decision values of e1071::svm (libsvm), refined in double precision: data sets x kernels x costs x class weights.
# From the repository root:  Rscript tests/r/e1071_decision_values.R
source("tests/r/common.R")

plain <- expand.grid(
  C = c(1e-3, 1, 16, 1e3, 1e4), kernel = c("linear", "rbf", "poly"),
  dataset = c("mackerel", "liver_pnc", "liver_avh", "forest"), w_event = 1, w_other = 1, stringsAsFactors = FALSE
)
costly <- subset(plain, (kernel == "rbf" & C != 16 & C < 1e4) | (kernel != "rbf" & C == 16))
costly[c("w_event", "w_other")] <- list(3, 0.5)
# Classes of equal size: at small C no vector is free and the intercept is an interval.
even <- data.frame(C = c(1e-3, 1e-3, 16), kernel = c("linear", "rbf", "rbf"), dataset = "liver_even", w_event = 1, w_other = 1)

cases <- rbind(plain, costly, even)
cases$gamma <- gammas[cases$dataset]
cases$case <- seq_len(nrow(cases))
cases <- cases[c("case", "dataset", "kernel", "C", "gamma", "w_event", "w_other")]

run <- function(case) {
  data <- load_data(case$dataset)
  fit <- fit_svm(standardise(data$X), data$event, case$kernel, case$C, case$gamma, case$w_event, case$w_other)
  row <- seq(1, nrow(data$X), by = if (nrow(data$X) > 500) 7 else if (nrow(data$X) > 100) 3 else 1)
  list(row = row, f = fit$f[row], scalars = c(platt(fit$f, data$event), unlist(fit[c("n_free", "kkt", "e1071_error")])))
}
write_reference(cases, run, "e1071_decision_values")
