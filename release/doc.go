// Package release is the file that a custodian publishes: a model and the certificate of the
// privacy it was learned under.
//
// [Write] and [WriteFile] write it, [Read] and [ReadFile] read it back (the certificate to the last
// bit), or a bare model object, which has no certificate and promises nothing.
//
// [Verify] checks that a release is consistent: that the plan adds up to what it says was spent,
// and that this is at most what was asked. [Certificate.Plain] states the promise, and its limits,
// in plain words. Neither can know whether the program that wrote the file did what the file says:
// a release itself is not signed, and whoever can alter it can invent a consistent one.
//
// The package sees no row. Fields of a newer version that it does not know are ignored when
// reading, and lost when the release is written again; a file of another format version is an
// error.
package release
