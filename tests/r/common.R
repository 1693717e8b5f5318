# Shared by the scripts of this directory; source()d from the repository root.
suppressPackageStartupMessages(library(e1071))

# Data sets: formula terms as columns, event as logical. `X` is not yet scaled.
load_data <- function(name) {
  read <- function(file) read.csv(file.path("svmstat", "datasets", file))
  if (name == "mackerel") {
    d <- read("mackerel.csv")
    return(list(X = as.matrix(d[c("lon", "lat", "b_depth", "c_dist", "temp_20m")]), event = d$egg_count > 0))
  }
  if (name == "forest") { # rows 1, 10, 20, ...
    d <- read("forest.csv.gz")
    d <- d[c(1, seq(10, nrow(d), by = 10)), ]
    columns <- c("elevation", "aspect", "slope", "wilderness_area1", "wilderness_area3")
    return(list(X = as.matrix(d[columns]), event = d$cover_type == 7))
  }
  d <- read("liver.csv")
  level <- c(liver_pnc = "PNC", liver_avh = "AVH", liver_even = "PCH")[[name]]
  if (name == "liver_even") d <- d[c(which(d$disease == "PCH")[1:40], which(d$disease == "ACH")[1:40]), ]
  list(X = log(as.matrix(d[c("ast", "alt", "gldh")])), event = d$disease == level)
}

# Centre and scale by the training rows' mean and sd (ddof 1); 0/1 columns stay as they are.
standardise <- function(X, train = X) {
  for (j in seq_len(ncol(X))) {
    if (!all(train[, j] %in% c(0, 1))) X[, j] <- (X[, j] - mean(train[, j])) / sd(train[, j])
  }
  X
}

gram <- function(X, Z, kernel, gamma) { # poly: degree 3, coef0 1
  dots <- X %*% t(Z)
  switch(kernel,
    linear = dots,
    poly = (gamma * dots + 1)^3,
    rbf = {
      squares <- 0
      for (j in seq_len(ncol(X))) squares <- squares + outer(X[, j], Z[, j], "-")^2
      exp(-gamma * squares)
    }
  )
}

# Intercept from the KKT conditions: the middle of its interval, and the largest violation.
intercept <- function(h, y, u, alpha) {
  b <- y - h
  up <- (y > 0 & alpha < u) | (y < 0 & alpha > 0)
  low <- (y > 0 & alpha > 0) | (y < 0 & alpha < u)
  c(b = (max(b[up]) + min(b[low])) / 2, kkt = max(0, max(b[up]) - min(b[low])))
}

# libsvm keeps its kernel rows in single precision, so its solution is that of a slightly different problem.
# Started from e1071's alpha, this primal active-set method solves the same dual in double precision.
refine <- function(K, y, u, alpha, tol = 1e-9, max_steps = 20000) {
  free <- alpha > 1e-9 * u & alpha < (1 - 1e-9) * u
  alpha <- ifelse(free, alpha, ifelse(alpha > u / 2, u, 0))
  for (step in seq_len(max_steps)) {
    h <- drop(K %*% (alpha * y))
    m <- which(free)
    if (length(m) > 0) {
      A <- rbind(c(0, y[m]), cbind(y[m], K[m, m] * outer(y[m], y[m])))
      r <- c(-sum(alpha * y), 1 - y[m] * h[m])
      e <- eigen(A, symmetric = TRUE)
      keep <- abs(e$values) > 1e-13 * max(abs(e$values))
      V <- e$vectors[, keep, drop = FALSE]
      d <- drop(V %*% (crossprod(V, r) / e$values[keep]))[-1]
      flat <- drop(r - V %*% crossprod(V, r)) # in the null space: zero curvature, move to a bound
      if (max(abs(flat)) > 1e-8) d <- 1e12 * flat[-1]
      room <- ifelse(d < 0, -alpha[m] / d, ifelse(d > 0, (u[m] - alpha[m]) / d, Inf))
      alpha[m] <- alpha[m] + min(1, room) * d
      if (min(room) < 1) { # the blocking variable leaves the free set
        i <- which.min(room)
        alpha[m[i]] <- if (d[i] < 0) 0 else u[m[i]]
        free[m[i]] <- FALSE
        next
      }
      h <- drop(K %*% (alpha * y))
    }
    b <- intercept(h, y, u, alpha)
    if (b["kkt"] < tol) break
    gradient <- y * (h + if (length(m) > 0) mean(y[m] - h[m]) else b["b"]) - 1
    violation <- ifelse(free, 0, ifelse(alpha > 0, gradient, -gradient))
    if (max(violation) <= 0) break
    free[order(-violation)[if (length(m) > 0) 1 else 1:2]] <- TRUE
  }
  list(alpha = alpha, b = b[["b"]], kkt = b[["kkt"]], n_free = sum(alpha > 0 & alpha < u))
}

# The SVM with cost C times the class weights. Returns f at the rows of `newX`, e1071's own largest
# distance from it, the KKT violation in double precision, and the number of free support vectors.
fit_svm <- function(X, event, kernel, C, gamma, w_event = 1, w_other = 1, newX = X) {
  fit <- svm(X, factor(event, c(TRUE, FALSE), c("event", "other")),
    type = "C-classification", scale = FALSE, kernel = c(linear = "linear", rbf = "radial", poly = "polynomial")[[kernel]],
    cost = C, gamma = gamma, degree = 3, coef0 = 1, class.weights = c(event = w_event, other = w_other),
    tolerance = 1e-8, shrinking = FALSE, cachesize = 500, fitted = FALSE
  )
  values <- attr(predict(fit, newX, decision.values = TRUE), "decision.values")
  f_e1071 <- drop(values) * (if (colnames(values) == "event/other") 1 else -1)
  y <- ifelse(event, 1, -1)
  alpha <- numeric(length(y))
  alpha[fit$index] <- abs(fit$coefs[, 1])
  exact <- refine(gram(X, X, kernel, gamma), y, C * ifelse(event, w_event, w_other), alpha)
  f <- drop(gram(newX, X, kernel, gamma) %*% (exact$alpha * y)) + exact$b
  list(f = f, e1071_error = max(abs(f_e1071 - f)), kkt = exact$kkt, n_free = exact$n_free)
}

# Platt's map 1 / (1 + exp(slope f + intercept)): cross-entropy with smoothed labels, by nlminb
# (glm with the smoothed labels is the same problem, but its iterations have no line search).
platt <- function(f, event, weights = rep(1, length(f))) {
  n <- c(sum(weights[event]), sum(weights[!event]))
  target <- ifelse(event, (n[1] + 1) / (n[1] + 2), 1 / (n[2] + 2))
  Z <- -cbind(f, 1)
  log1pexp <- function(eta) pmax(eta, 0) + log1p(exp(-abs(eta)))
  loss <- function(par) sum(weights * (log1pexp(Z %*% par) - target * Z %*% par))
  score <- function(par) drop(crossprod(Z, weights * (plogis(Z %*% par) - target)))
  hessian <- function(par) crossprod(Z, weights * dlogis(drop(Z %*% par)) * Z)
  par <- nlminb(c(-1, 0), loss, score, hessian, control = list(rel.tol = 1e-14))$par
  for (step in 1:3) par <- par - solve(hessian(par), score(par))
  stopifnot(abs(score(par)) < 1e-8 * sum(weights))
  eta <- drop(Z %*% par)
  c(slope = par[[1]], intercept = par[[2]], deviance = 2 * sum(weights * log1pexp(ifelse(event, -eta, eta))))
}

# Whole-number case weights from 0 to 3 without a draw: 2 3 0 2 0 3 3 3 3 0 2 0 3 2 1, repeated.
case_weights <- function(n) (7 * seq_len(n)^2 + (seq_len(n) %% 3 == 0)) %% 5 %% 4

# Run every case of a table of arguments; write <stem>_cases.csv (one line per case) and <stem>.csv (values).
write_reference <- function(cases, run, stem) {
  values <- list()
  for (i in seq_len(nrow(cases))) {
    result <- run(cases[i, ])
    cases[i, names(result$scalars)] <- result$scalars
    values[[i]] <- data.frame(case = cases$case[i], row = result$row, f = sprintf("%.10g", result$f))
    message(paste(format(cases[i, ]), collapse = " "))
  }
  for (column in names(result$scalars)) {
    digits <- if (column %in% c("kkt", "e1071_error")) "%.1e" else "%.10g"
    cases[[column]] <- sprintf(digits, cases[[column]])
  }
  write.csv(cases, file.path("tests", "r", paste0(stem, "_cases.csv")), row.names = FALSE, quote = FALSE)
  write.csv(do.call(rbind, values), file.path("tests", "r", paste0(stem, ".csv")), row.names = FALSE, quote = FALSE)
}

gammas <- c(mackerel = 0.25, liver_pnc = 0.5, liver_avh = 0.5, liver_even = 0.5, forest = 0.2)
