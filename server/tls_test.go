package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// host is the server's name, which means this machine here alone. (Of this machine's own names
// browsers take cookies of TLS without it.)
const host = "gauze.test"

// certified writes a certificate of the host, signed by itself, and its key, and returns what
// trusts it.
func certified(t *testing.T, folder string) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true}
	public, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	cert, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		text := pem.EncodeToMemory(block)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		roots.AppendCertsFromPEM(text)
	}
	return cert, key, roots
}

// A browser keeps cookies, follows nobody, and trusts what it is told to.
type browser struct {
	t *testing.T
	http.Client
	base string
}

// visit returns an answer and its text; form nil is a GET.
func (b *browser) visit(path string, form url.Values, cookies ...*http.Cookie) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	answer, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer, string(text)
}

// TestSessionsOverTLS: a browser signs in over TLS, to the server as it runs. All cookies are of
// this host, of TLS and of its own pages alone; none is given or taken without TLS; and neither a
// form of another page nor a cookie that such a page could have set does anything.
func TestSessionsOverTLS(t *testing.T) {
	folder := t.TempDir()
	c := Config{Listen: "127.0.0.1:0", Database: filepath.Join(folder, "gauze.db"), Key: filepath.Join(folder, "key"), Workers: 1, SlotLeast: time.Second, Horizon: time.Hour, Waiting: 20,
		PerSecond: 100, Grace: time.Second}
	cert, key, roots := certified(t, folder)
	c.TLSCert, c.TLSKey = cert, key
	server, err := New(t.Context(), c, time.Now, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	token, err := auth.New(server.store, time.Now).Add(t.Context(), "test", store.Person{Name: "lee", Role: store.Analyst}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- server.Run(ctx, func(a string) { address <- a }) }()
	at := <-address
	jar, _ := cookiejar.New(nil)
	here := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, at)
	}
	b := &browser{t, http.Client{Jar: jar, Transport: &http.Transport{DialContext: here, TLSClientConfig: &tls.Config{RootCAs: roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, "https://" + host}

	session := b.signsIn(token)
	b.refuses(session)
	b.withoutTLS(at, roots)
	if _, text := b.visit("/datasets", nil); !strings.Contains(text, "lee") {
		t.Error("the session has ended by what others tried")
	}
	_, text := b.visit("/datasets", nil)
	if answer, _ := b.visit("/sign-out", url.Values{"secret": {secretOf(t, text)}}); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("signing out: %d", answer.StatusCode)
	}
	if answer, _ := b.visit("/datasets", nil, session); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("a session that was ended: %d", answer.StatusCode)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// secretOf is that of a page's forms.
func secretOf(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`name="secret" value="([^"]+)"`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no form has a secret:\n%s", text)
	}
	return found[1]
}

// given is the one cookie of an answer that is not ended by it, checked.
func (b *browser) given(answer *http.Response, name string) *http.Cookie {
	b.t.Helper()
	var found *http.Cookie
	for _, c := range answer.Cookies() {
		if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
			b.t.Errorf("a cookie is %v", c)
		}
		if c.MaxAge >= 0 {
			found = c
		}
	}
	if found == nil || found.Name != name {
		b.t.Fatalf("cookies %v, want %s", answer.Cookies(), name)
	}
	if answer.Header.Get("Strict-Transport-Security") == "" {
		b.t.Error("browsers are not told to stay with TLS")
	}
	return found
}

// signsIn begins a session, after what does not begin one.
func (b *browser) signsIn(token string) (session *http.Cookie) {
	b.t.Helper()
	answer, text := b.visit("/sign-in", nil)
	b.given(answer, "__Host-gauze-sign-in")
	secret := secretOf(b.t, text)
	for name, form := range map[string]url.Values{"none": {"token": {token}}, "another": {"token": {token}, "secret": {"x"}}} {
		if answer, _ := b.visit("/sign-in", form); answer.StatusCode != http.StatusForbidden {
			b.t.Errorf("signing in with %s of the form's secrets: %d", name, answer.StatusCode)
		}
	}
	_, text = b.visit("/sign-in", nil)
	if again := secretOf(b.t, text); again == secret {
		b.t.Error("two forms have one secret")
	}
	answer, _ = b.visit("/sign-in", url.Values{"token": {token}, "secret": {secretOf(b.t, text)}})
	if answer.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("signing in: %d", answer.StatusCode)
	}
	return b.given(answer, "__Host-gauze-session")
}

// refuses tries what another page can: forms without the session's secret, and cookies under names
// that it could set.
func (b *browser) refuses(session *http.Cookie) {
	b.t.Helper()
	for _, path := range []string{"/sign-out", "/fits", "/fits/1/cancel"} {
		for _, form := range []url.Values{{}, {"secret": {""}}, {"secret": {session.Value}}} {
			if answer, _ := b.visit(path, form); answer.StatusCode != http.StatusForbidden {
				b.t.Errorf("POST %s with %v: %d", path, form, answer.StatusCode)
			}
		}
	}
	other := &browser{b.t, http.Client{Transport: b.Transport, CheckRedirect: b.CheckRedirect}, b.base}
	for _, name := range []string{"gauze-session", "__Secure-gauze-session", "__host-gauze-session"} {
		if answer, _ := other.visit("/datasets", nil, &http.Cookie{Name: name, Value: session.Value}); answer.StatusCode != http.StatusSeeOther {
			b.t.Errorf("cookie %s begins a session: %d", name, answer.StatusCode)
		}
	}
	if answer, _ := other.visit("/datasets", nil, &http.Cookie{Name: session.Name, Value: session.Value}); answer.StatusCode != http.StatusOK {
		b.t.Errorf("the session's own cookie: %d: the test could hardly fail", answer.StatusCode)
	}
}

// withoutTLS speaks plainly to the server, and by what TLS was before 1.2.
func (b *browser) withoutTLS(at string, roots *x509.CertPool) {
	b.t.Helper()
	plain := &url.URL{Scheme: "http", Host: host}
	if sent := b.Jar.Cookies(plain); len(sent) > 0 {
		b.t.Errorf("without TLS a browser sends %v", sent)
	}
	open := &browser{b.t, http.Client{Transport: b.Transport, CheckRedirect: b.CheckRedirect}, plain.String()}
	for _, path := range []string{"/sign-in", "/datasets", "/healthz"} {
		if answer, text := open.visit(path, nil); answer.StatusCode != http.StatusBadRequest || len(answer.Cookies()) > 0 || strings.Contains(text, "secret") {
			b.t.Errorf("%s without TLS: %d, cookies %v", path, answer.StatusCode, answer.Cookies())
		}
	}
	if old, err := tls.Dial("tcp", at, &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		old.Close()
		b.t.Error("TLS 1.1 is spoken")
	}
	if unknown, err := tls.Dial("tcp", at, &tls.Config{ServerName: host}); err == nil {
		unknown.Close()
		b.t.Error("anybody trusts the certificate: the test could hardly fail")
	}
}
