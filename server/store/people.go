package store

import (
	"context"
	"fmt"
	"time"

	"github.com/gauze-dp/gauze/ledger"
)

// A Role says what a person may do at all.
type Role string

const (
	// Custodian registers data sets and grants budgets of those.
	Custodian Role = "custodian"
	// Analyst plans and fits within grants, and sees releases of these fits.
	Analyst Role = "analyst"
)

// A Person is somebody who has tokens.
type Person struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
}

// A Token is what is stored of a token, without its secret.
type Token struct {
	ID string
	Person
	Hash    string // of its secret, by argon2id with a salt of its own
	Since   time.Time
	Expires time.Time // zero for never
	Revoked time.Time // zero if not revoked
}

// AddToken stores a token, and makes its person known. who is the person that does so, or a name of
// the command line's. It fails with ErrThere if the person has the other role.
func (s *Store) AddToken(ctx context.Context, who string, token Token) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		if err := s.known(ctx, t, token.Person); err != nil {
			return err
		}
		if _, err := s.exec(ctx, t, "INSERT INTO gauze_tokens (id, person, hash, since, expires, revoked) VALUES (?, ?, ?, ?, ?, 0)",
			token.ID, token.Name, token.Hash, millis(s.now()), millis(token.Expires)); err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: who, What: fmt.Sprintf("token add, role %s", token.Role), On: token.Name})
	})
}

// known adds a person unless they are known.
func (s *Store) known(ctx context.Context, t *ledger.Tx, p Person) error {
	if _, err := s.exec(ctx, t, "INSERT INTO gauze_people (name, role, since) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING", p.Name, string(p.Role), millis(s.now())); err != nil {
		return err
	}
	var role Role
	if err := t.QueryRowContext(ctx, s.bind("SELECT role FROM gauze_people WHERE name = ?"), p.Name).Scan(&role); err != nil {
		return err
	}
	if role != p.Role {
		return ErrThere
	}
	return nil
}

// Role returns a person's role; ErrNotFound if nobody of that name is known.
func (s *Store) Role(ctx context.Context, name string) (role Role, err error) {
	err = s.db.QueryRowContext(ctx, s.bind("SELECT role FROM gauze_people WHERE name = ?"), name).Scan(&role)
	return role, found(err)
}

// Known adds a person unless they are known. It fails with ErrThere if the name has the other role.
func (s *Store) Known(ctx context.Context, p Person) error {
	if role, err := s.Role(ctx, p.Name); err == nil && role == p.Role {
		return nil
	}
	return s.ledger.Write(ctx, func(t *ledger.Tx) error { return s.known(ctx, t, p) })
}

const tokenColumns = "SELECT t.id, p.name, p.role, t.hash, t.since, t.expires, t.revoked FROM gauze_tokens t JOIN gauze_people p ON p.name = t.person "

func scanToken(row scanner) (t Token, err error) {
	var since, expires, revoked int64
	err = row.Scan(&t.ID, &t.Name, &t.Role, &t.Hash, &since, &expires, &revoked)
	t.Since, t.Expires, t.Revoked = moment(since), moment(expires), moment(revoked)
	return t, err
}

// Token returns the token with an id.
func (s *Store) Token(ctx context.Context, id string) (Token, error) {
	t, err := scanToken(s.db.QueryRowContext(ctx, s.bind(tokenColumns+"WHERE t.id = ?"), id))
	return t, found(err)
}

// Tokens returns all tokens, by name.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	return list(ctx, s, s.db, scanToken, tokenColumns+"ORDER BY p.name, t.since")
}

// Revoke ends a token, and the sessions that it began.
func (s *Store) Revoke(ctx context.Context, who, id string) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		n, err := s.exec(ctx, t, "UPDATE gauze_tokens SET revoked = ? WHERE id = ? AND revoked = 0", millis(s.now()), id)
		if err == nil && n == 0 {
			return ErrNotFound
		}
		if err == nil {
			_, err = s.exec(ctx, t, "DELETE FROM gauze_sessions WHERE token = ?", id)
		}
		if err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: who, What: "token revoke", On: id})
	})
}

// A Session is a browser's session.
type Session struct {
	Hash string // of its cookie
	Person
	Secret  string // carried by the forms of its pages, so that no other page can send them
	Token   string // the token that began it, "" for another way in
	Expires time.Time
}

// AddSession stores a session, and deletes expired ones.
func (s *Store) AddSession(ctx context.Context, session Session) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		if err := s.known(ctx, t, session.Person); err != nil {
			return err
		}
		if _, err := s.exec(ctx, t, "DELETE FROM gauze_sessions WHERE expires < ?", millis(s.now())); err != nil {
			return err
		}
		_, err := s.exec(ctx, t, "INSERT INTO gauze_sessions (hash, person, secret, token, expires) VALUES (?, ?, ?, ?, ?)",
			session.Hash, session.Name, session.Secret, session.Token, millis(session.Expires))
		return err
	})
}

// Session returns the session with a hash, unless it or the token that began it has ended.
func (s *Store) Session(ctx context.Context, hash string) (out Session, err error) {
	var expires int64
	err = s.db.QueryRowContext(ctx, s.bind("SELECT s.hash, p.name, p.role, s.secret, s.token, s.expires FROM gauze_sessions s JOIN gauze_people p ON p.name = s.person LEFT JOIN gauze_tokens t ON t.id = s.token "+
		"WHERE s.hash = ? AND s.expires >= ? AND COALESCE(t.revoked, 0) = 0 AND (COALESCE(t.expires, 0) = 0 OR t.expires >= ?)"), hash, millis(s.now()), millis(s.now())).Scan(&out.Hash, &out.Name, &out.Role, &out.Secret, &out.Token, &expires)
	out.Expires = moment(expires)
	return out, found(err)
}

// EndSession deletes a session.
func (s *Store) EndSession(ctx context.Context, hash string) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		_, err := s.exec(ctx, t, "DELETE FROM gauze_sessions WHERE hash = ?", hash)
		return err
	})
}
