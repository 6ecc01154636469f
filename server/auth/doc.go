// Package auth identifies people: by a token, or by a session that a browser began with one.
//
// A token has 256 random bits; the store keeps its hash by argon2id, with a salt of its own. Since
// that is slow and takes memory by design, a token that was found right is remembered by a keyed
// digest, for as long as the process runs. Whether it was revoked is checked each time.
package auth
