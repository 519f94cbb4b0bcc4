"""Prints vectors.json: what other libraries make of some series.

ARMA models by statsmodels' hannan_rissanen without its correction of a bias, Gaussian processes by scikit-learn with fixed
parameters. Run it with statsmodels 0.14 and scikit-learn 1.9 (PyPI):

    python vectors.py > vectors.json
"""
import json

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern
from statsmodels.tsa.arima.estimators.hannan_rissanen import hannan_rissanen


def arma(n, ar, ma, seed):
    """A series of n samples around 0."""
    noise = np.random.default_rng(seed).normal(size=n + 50)
    y = np.zeros(n + 50)
    for t in range(3, n + 50):
        y[t] = noise[t] + sum(a * y[t - 1 - i] for i, a in enumerate(ar)) + sum(m * noise[t - 1 - i] for i, m in enumerate(ma))
    return y[50:] - y[50:].mean()


def patterns(series, history, count):
    """Inputs and targets of the last samples, standardised, and the input of the sample to come."""
    last = np.array(series[-(history + count):])
    scaled = (last - last.mean()) / last.std()
    times = np.arange(count + 1.0)
    times = (times - times[:-1].mean()) / times[:-1].std()
    inputs = [[times[i], *scaled[i:i + history]] for i in range(count + 1)]
    return np.array(inputs[:-1]), scaled[history:], np.array(inputs[-1:]), last.mean(), last.std()


out = {"arma": [], "gp": []}
for n, ar, ma, p, q in [(60, [0.7], [], 1, 0), (60, [0.5, -0.3], [], 2, 0), (80, [], [0.6], 0, 1), (80, [0.6], [0.4], 1, 1),
                        (120, [0.4, 0.2, -0.1], [0.5, 0.3], 3, 2), (120, [0.5], [0.4, 0.2, 0.1], 1, 3)]:
    y = arma(n, ar, ma, len(out["arma"]))
    fitted, _ = hannan_rissanen(y, ar_order=p, ma_order=q, demean=False, unbiased=False)
    out["arma"].append({"series": list(y), "p": p, "q": q, "ar": list(fitted.ar_params), "ma": list(fitted.ma_params)})
for seed, length, noise, signal in [(1, 2.0, 0.01, 1.5), (2, 8.0, 0.1, 0.7), (3, 32.0, 0.3, 4.0)]:
    y = 5 + 2 * arma(20, [0.8], [], seed)
    x, targets, to_come, center, scale = patterns(y, 10, 10)
    g = GaussianProcessRegressor(ConstantKernel(signal, "fixed") * Matern(length, "fixed", nu=0.5), alpha=noise * signal,
                                 optimizer=None).fit(x, targets)
    mean, deviation = g.predict(to_come, return_std=True)
    out["gp"].append({"series": list(y), "length": length, "noise": noise, "signal": signal,
                      "mean": center + scale * mean[0], "variance": scale ** 2 * (deviation[0] ** 2 + noise * signal)})
print(json.dumps(out, indent=1))
