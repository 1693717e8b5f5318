"""The checks of scikit-learn itself, all of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from svmstat.sklearn import SVMClassifier


@parametrize_with_checks([SVMClassifier(), SVMClassifier(kernel="linear"), SVMClassifier(formula="~ .")])
def test_estimator(estimator, check):
    check(estimator)
