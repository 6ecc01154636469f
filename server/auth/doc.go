// Package auth says who somebody is: by a token, or by a session that a browser began with one.
//
// A token has 256 random bits; what is kept is its hash by argon2id, with a salt of its own. Since
// that is slow and takes memory by design, a token that was found right is remembered by a keyed
// digest, for as long as the process runs, and whether it was revoked is asked each time.
package auth
