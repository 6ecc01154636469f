"""Makes reference.json, the numbers that the tests of this folder compare with.

    pip install mpmath dp-accounting
    python3 reference.py > reference.json

Everything is computed with mpmath from the textbook formulas, at enough digits to survive their cancellation (none of
the identities that the Go code relies on is used), except "accountant", which is what an independent library says.
Results are strings of 25 digits; arguments are meant as the nearest 64-bit floating-point numbers.
"""

import json

from mpmath import erfc, exp, log, mp, mpf, nstr, sqrt

mp.dps = 120


def tail(x):
    """P(N(0,1) > x)."""
    return erfc(x / sqrt(mpf(2))) / 2


def log_tail(x):
    """ln P(N > x); by the continued fraction where erfc would need too many digits."""
    if x < 200:
        return log(tail(x))
    k = mpf(x)
    for n in range(400, 0, -1):
        k = x + n / k
    return -x * x / 2 - log(2 * mp.pi) / 2 - log(k)


def delta_of_mu(eps, mu):
    eps, mu = mpf(eps), mpf(mu)
    old = mp.dps
    mp.dps = 160
    try:
        one = exp(log_tail(eps / mu - mu / 2))
        two = exp(eps + log_tail(eps / mu + mu / 2))
        return one - two
    finally:
        mp.dps = old


def bisect(f, lo, hi, steps=110):
    """The root in [lo, hi] of an increasing f, in ln x."""
    lo, hi = log(mpf(lo)), log(mpf(hi))
    for _ in range(steps):
        mid = (lo + hi) / 2
        if f(exp(mid)) < 0:
            lo = mid
        else:
            hi = mid
    return exp((lo + hi) / 2)


def mu_of(eps, delta):
    eps, delta = mpf(eps), mpf(delta)
    return bisect(lambda mu: delta_of_mu(eps, mu) - delta, mpf(10) ** -16, mpf(10) ** 5)


def epsilon_of_mu(delta, mu):
    delta, mu = mpf(delta), mpf(mu)
    if delta_of_mu(mpf(10) ** -60, mu) <= delta:
        return mpf(0)
    return bisect(lambda e: delta - delta_of_mu(e, mu), mpf(10) ** -20, mpf(10) ** 9)


def mu_of_pure(eps0):
    want = -log(1 + exp(mpf(eps0)))
    return 2 * bisect(lambda x: want - log_tail(x), mpf(10) ** -15, mpf(10) ** 5)


def log_delta_order(a, r, eps):
    return (a - 1) * (r - eps) - log(a - 1) + a * log(1 - 1 / a)


def epsilon_order(a, r, delta):
    return r + log((a - 1) / a) - (log(delta) + log(a)) / (a - 1)


def least(f):
    """The minimum of a quasi-convex f over orders a > 1: ternary search in ln(a-1)."""
    lo, hi = mpf(-30), mpf(40)
    for _ in range(260):
        p, q = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        if f(1 + exp(p)) < f(1 + exp(q)):
            hi = q
        else:
            lo = p
    return f(1 + exp(lo))


def epsilon_of_rho(delta, rho):
    return max(mpf(0), least(lambda a: epsilon_order(a, a * mpf(rho), mpf(delta))))


def delta_of_rho(eps, rho):
    return min(mpf(1), exp(least(lambda a: log_delta_order(a, a * mpf(rho), mpf(eps)))))


def rho_of(eps, delta):
    return bisect(lambda r: epsilon_of_rho(delta, r) - mpf(eps), mpf(10) ** -20, mpf(10) ** 8)


def pure_divergence(a, eps0):
    a, e = mpf(a), mpf(eps0)
    return log((exp(a * e) + exp((1 - a) * e)) / (1 + exp(e))) / (a - 1)


def rows(f, *grids):
    out = []

    def walk(args, rest):
        if not rest:
            out.append(list(args) + [nstr(f(*(mpf(float(x)) for x in args)), 25)])
            return
        for x in rest[0]:
            walk(args + (x,), rest[1:])

    walk((), grids)
    return out


def accountant():
    """Composed mechanisms by dp-accounting (Renyi and privacy-loss distribution): [what, delta, rdp, pld]."""
    from dp_accounting import dp_event as ev
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant
    out = []
    for count, sigma, laplace, delta in [(10, 1.0, 0, 1e-6), (1, 4.0, 0, 1e-6), (100, 5.0, 0, 1e-5), (3, 0.5, 0, 1e-9),
                                         (1000, 100.0, 0, 1e-8), (1, 5.0, 2.0, 1e-6), (4, 8.0, 1.0, 1e-7)]:
        parts = [ev.SelfComposedDpEvent(ev.GaussianDpEvent(sigma), count)]
        if laplace:
            parts.append(ev.LaplaceDpEvent(laplace))
        e = ev.ComposedDpEvent(parts)
        out.append({"count": count, "sigma": sigma, "laplace": laplace, "delta": delta,
                    "rdp": RdpAccountant().compose(e).get_epsilon(delta),
                    "pld": PLDAccountant().compose(e).get_epsilon(delta)})
    return out


EPS = ["1e-6", "1e-3", "0.1", "0.5", "1", "2", "4", "8", "20", "100", "1e3", "1e5", "1e6", "1e7"]
DELTA = ["1e-300", "1e-100", "1e-30", "1e-12", "1e-9", "1e-6", "1e-3", "0.1", "0.5", "0.9", "0.999"]
MU = ["1e-8", "1e-5", "1e-3", "0.03", "0.2367", "0.5", "1", "2", "3.5", "10", "45", "200", "1414", "4472", "1e4"]

reference = {
    "mu_of": rows(mu_of, EPS, DELTA),
    # The added ones have epsilon/mu and mu/2 in the thousands and close to each other.
    "delta_of_mu": [r for r in rows(delta_of_mu, ["1e-9"] + EPS, MU)
                    + rows(delta_of_mu, ["1e6"], ["1380.7", "1390.3", "1400.9", "1409.1"])
                    + rows(delta_of_mu, ["1e7"], ["4440.1", "4446.7", "4450.3", "4461.9", "4467.3"])
                    if mpf(r[2]) > mpf(10) ** -300],
    "epsilon_of_mu": rows(epsilon_of_mu, ["1e-300", "1e-9", "1e-6", "0.3"], MU),
    "mu_of_pure": rows(mu_of_pure, ["1e-3", "0.1", "0.5", "1", "1.5", "3", "10", "60", "700", "1e4", "1e7"]),
    "log_tail": rows(lambda x: log_tail(mpf(x)), ["0", "0.5", "0.999", "1", "1.5", "3", "6", "12", "37", "38.6", "100", "1414"]),
    "rho_of": rows(rho_of, ["1e-3", "0.5", "1", "4", "100", "1e6"], ["1e-100", "1e-9", "1e-6", "1e-3"]),
    "delta_of_rho": rows(delta_of_rho, ["0.1", "1", "5", "50"], ["1e-4", "0.024", "0.5", "10"]),
    "pure_divergence": rows(pure_divergence, ["1.0009765625", "1.5", "2", "9", "1025"], ["1e-3", "0.5", "2", "40"]),
    "accountant": accountant(),
}
print(json.dumps(reference, indent=0))
