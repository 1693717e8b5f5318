# Null deviances of stats::glm, with and without case weights, and the logistic model's own deviance beside them.
# From the repository root:  Rscript tests/r/glm_deviance.R
source("tests/r/common.R")

rows <- list()
for (name in c("mackerel", "liver_pnc", "liver_avh", "forest")) {
  for (weighted in c(FALSE, TRUE)) {
    data <- load_data(name)
    weight <- if (weighted) case_weights(length(data$event)) else rep(1, length(data$event))
    fit <- glm(data$event ~ data$X, family = binomial, weights = weight, control = glm.control(epsilon = 1e-12, maxit = 100))
    rows[[length(rows) + 1]] <- data.frame(
      dataset = name, weighted = weighted, nobs = sum(weight),
      null_deviance = sprintf("%.12g", fit$null.deviance), deviance = sprintf("%.10g", fit$deviance)
    )
  }
}
write.csv(do.call(rbind, rows), "tests/r/glm_deviance.csv", row.names = FALSE, quote = FALSE)
