// Package dense is arithmetic on small dense matrices, n up to about twenty. It serves code that
// receives raw rows, or estimates made of them, and so must not depend on anything that another
// package can replace. It imports the standard library only, keeps nothing, and starts nothing.
//
//	vector.go      inner products, lengths, finite numbers
//	product.go     products, the identity
//	triangle.go    Cholesky's factor, and solutions and inverses by triangles
//	invert.go      the inverse of any matrix
//	orthogonal.go  Gram and Schmidt: triangles
//	eigen.go       Jacobi: singular values, eigenvalues
//	exp.go         the exponential of numbers that are not positive
//	log.go         the map of a column that is fitted as its logarithm
//
// Matrices are flat and row-major: entry (i, j) of an n x m matrix is a[i*m+j]. Sizes come after
// the slices, rows before columns. Triangles are lower ones, in a full square; a function of a
// triangle does not read what is above the diagonal, and one that makes a triangle of its own has
// zeros there. A function of a symmetric matrix that reads one half of it says which.
//
// The caller ensures the sizes: a slice that is too short panics. Matrices with entries that are
// not finite are refused where a function says how, and nothing loops on them. The order of
// operations of each function is part of it: results do not change, to the last bit.
//
// For released numbers, package symmetric below has the same and more on gonum's matrices.
package dense
