PRAGMA application_id = 1380274224;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE bodies (sha256 TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO "bodies" VALUES('afb0698a97a57b59b86c44d3644e96a3a1d618d229acbce980df3a609503cb7d',X'28530B2D4E2DD24D4C4FCD2BB152D0E272C92C4ECCC9C92FB752D02F28CA2C4B2C49E5722E4A2CCFD14D49CD49ACB45230E20200930F1002');
CREATE TABLE entries (
        origin TEXT PRIMARY KEY, access TEXT NOT NULL, url TEXT NOT NULL, status INTEGER, sha256 TEXT NOT NULL,
        hops TEXT NOT NULL, fetched_at REAL NOT NULL, fresh_until REAL NOT NULL, etag TEXT NOT NULL,
        last_modified TEXT NOT NULL, failures INTEGER NOT NULL, unreachable_since REAL, tried_at REAL NOT NULL,
        retry_at REAL NOT NULL
    ) WITHOUT ROWID;
INSERT INTO "entries" VALUES('https://example.com','successful','https://example.com/robots.txt',200,'afb0698a97a57b59b86c44d3644e96a3a1d618d229acbce980df3a609503cb7d','["https://www.example.com/robots.txt"]',1795737600.0,1795824000.0,'"1"','',0,NULL,0.0,0.0);
CREATE TABLE leases (
        origin TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID;
CREATE TABLE notes (
        key TEXT PRIMARY KEY, text TEXT NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID;
INSERT INTO "notes" VALUES('sitemap shop https://example.com/sitemap.xml','{"began":1.0}',2795737600.0);
CREATE INDEX entries_by_body ON entries (sha256);
COMMIT;
