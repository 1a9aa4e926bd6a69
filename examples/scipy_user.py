"""For users of SciPy: zorank as a method of scipy.optimize.minimize."""

from scipy.optimize import minimize, rosen

import zorank

result = minimize(rosen, [1.3, 0.7, 0.8], method=zorank.integrations.scipy_method)
print(result.x, result.fun, result.nfev, result.message)
