CREATE TABLE gauze_people (name TEXT PRIMARY KEY, role TEXT NOT NULL, since BIGINT NOT NULL);
CREATE TABLE gauze_tokens (id TEXT PRIMARY KEY, person TEXT NOT NULL, hash TEXT NOT NULL, since BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL);
CREATE TABLE gauze_sessions (hash TEXT PRIMARY KEY, person TEXT NOT NULL, secret TEXT NOT NULL, token TEXT NOT NULL, expires BIGINT NOT NULL);
CREATE TABLE gauze_datasets (name TEXT PRIMARY KEY, owner TEXT NOT NULL, body TEXT NOT NULL, since BIGINT NOT NULL);
CREATE TABLE gauze_granted (dataset TEXT NOT NULL, analyst TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE INDEX gauze_granted_analyst ON gauze_granted (analyst);
CREATE TABLE gauze_fits (id TEXT PRIMARY KEY, seq BIGINT NOT NULL UNIQUE, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL,
  reserved BIGINT NOT NULL, reserved_own BIGINT NOT NULL, submitted BIGINT NOT NULL, worker INTEGER NOT NULL, starts BIGINT NOT NULL, length BIGINT NOT NULL,
  shows BIGINT NOT NULL, cancelled BIGINT NOT NULL, outcome TEXT NOT NULL);
CREATE INDEX gauze_fits_analyst ON gauze_fits (analyst, seq);
CREATE INDEX gauze_fits_dataset ON gauze_fits (dataset, seq);
CREATE INDEX gauze_fits_state ON gauze_fits (state, worker, seq);
CREATE TABLE gauze_releases (id TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE gauze_keys (analyst TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, fit TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (analyst, name));
