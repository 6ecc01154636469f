// Package noise draws the kernel's randomness, exactly: Gaussians rounded to integers, discrete
// Laplace variables, the picks of the exponential mechanism, uniform integers and 64-bit tags.
//
// "Exactly" has one meaning here: if the words of the Source are independent and uniform on the
// 2^64 values of a uint64, then each result has precisely the law that its doc comment states, not
// an approximation of it. No floating-point operation is done on the way (a float64 sigma is the
// dyadic rational that it is), so the known attacks on the low bits of floating-point noise do not
// apply.
//
// What is not protected: the time. How long a draw takes depends on the words drawn and on sigma,
// hence on the noise, but never on data. Only Exponential sees data, the scores: the less they
// agree, the more often it draws. Somebody who could time single draws would learn something about
// the size of the noise; so the kernel must not let the time of a single draw be observed (its
// callers draw the noise of a whole measurement and answer once). Words of entropy are wiped from
// the buffer as they are used; what is left on the stack or in a collected heap object is not
// wiped.
package noise
