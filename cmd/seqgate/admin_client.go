package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/vschema"
)

// adminTimeoutDefault is how long the answer of a running seqgate may take, unless a flag says otherwise.
const adminTimeoutDefault = 10 * time.Second

// adminSource is what a command is told of where a running seqgate is.
type adminSource struct {
	file, addr string
	timeout    time.Duration
}

func (s *adminSource) flags(fs *pflag.FlagSet) {
	fs.StringVar(&s.file, "config", "", "the configuration `FILE` of the seqgate (or SEQGATE_CONFIG)")
	fs.StringVar(&s.addr, "admin", "", "the admin `ADDR` of the seqgate, host:port, unix:/path or https://host:port, in place of that of the file; SEQGATE_ADMIN_PASSWORD is its password")
	fs.DurationVar(&s.timeout, "timeout", adminTimeoutDefault, "the `TIME` that the answer may take")
}

// open finds the admin address. Mistakes in the configuration that do not concern it do not matter, since it may have been
// edited while that seqgate runs.
func (s *adminSource) open() (*adminClient, error) {
	if err := checkTimeout(s.timeout); err != nil {
		return nil, err
	}
	file := s.file
	if s.addr == "" {
		file = cmp.Or(file, os.Getenv("SEQGATE_CONFIG"))
	}
	at := config.Admin{Password: os.Getenv("SEQGATE_ADMIN_PASSWORD")}
	if file != "" {
		cfg, faults, err := app.Loader(os.Getenv).LoadTolerantly(file)
		if err != nil {
			return nil, err
		}
		at = cfg.Admin
		if at.Password == "" { // without it the answer would be that it is wrong
			if err := about(faults, "admin.password"); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case s.addr != "":
		at = atAddress(at, s.addr)
	case file == "":
		return nil, ops.Usagef("no configuration: give --config FILE or --admin ADDR")
	case at.Listen == "":
		return nil, fmt.Errorf("%s has no admin address: set admin.listen and restart seqgate, or give --admin ADDR", file)
	}
	return newAdminClient(at)
}

// ask finds the running seqgate and asks it, for as long as the answer may take. The answer's JSON is read into read, unless that is nil.
func (s *adminSource) ask(ctx context.Context, method, page string, read any) (answer []byte, err error) {
	client, err := s.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if answer, err = client.ask(ctx, method, page); err != nil || read == nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, read); err != nil {
		return nil, fmt.Errorf("the admin address %s answers with something else than %s: it may be of an older seqgate: %w", client.addr, page, err)
	}
	return answer, nil
}

// checkTimeout refuses a time in which nothing can be answered.
func checkTimeout(d time.Duration) error {
	if d <= 0 {
		return ops.Usagef("--timeout %v: write a time above 0, such as 10s", d)
	}
	return nil
}

// about returns the errors of keys that begin so; nil when there is none.
func about(faults vschema.Errors, keys string) error {
	faults = slices.DeleteFunc(slices.Clone(faults), func(e vschema.Error) bool { return !strings.HasPrefix(e.Path, keys) })
	if len(faults) == 0 {
		return nil
	}
	return faults
}

// atAddress returns a with an address from a flag. One that begins with a scheme says whether it is encrypted; else that is
// as configured.
func atAddress(a config.Admin, addr string) config.Admin {
	if strings.HasPrefix(addr, "/") {
		addr = "unix:" + addr
	}
	a.Listen = addr
	if strings.Contains(addr, "://") {
		a.TLS = config.CertificateFiles{}
	}
	return a
}

// adminClient asks a running seqgate at its admin address. No proxy of the environment is asked: the address is this machine's.
type adminClient struct {
	addr, password string
	base           string // scheme and host
	http           *http.Client
	transport      *http.Transport
}

// newAdminClient reaches an address of the configuration, or one that begins with http:// or https://. The configuration's own has
// to show the certificate of the configuration, others one that the system trusts for their names.
func newAdminClient(at config.Admin) (*adminClient, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	c := &adminClient{addr: at.Listen, password: at.Password, http: &http.Client{Transport: transport}, transport: transport}
	scheme, host, ok := strings.Cut(at.Listen, "://")
	switch {
	case !ok && at.TLS.Cert != "":
		shown, err := readCertificate(at.TLS.Cert)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: shows(shown)}
		scheme, host = "https", at.Listen
	case !ok:
		scheme, host = "http", at.Listen
	case scheme != "http" && scheme != "https":
		return nil, ops.Usagef("admin address %s: write host:port, unix:/path or https://host:port", at.Listen)
	}
	c.base = scheme + "://" + reachable(host)
	if path, ok := strings.CutPrefix(host, "unix:"); ok {
		c.base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	}
	return c, nil
}

// readCertificate reads the first certificate of a PEM file.
func readCertificate(path string) (*x509.Certificate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, fmt.Errorf("%s: no certificate in it: write a file in PEM format", path)
}

// shows wants one certificate, whoever has signed it.
func shows(want *x509.Certificate) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || !state.PeerCertificates[0].Equal(want) {
			return errors.New("it shows another certificate than that of admin.cert: seqgate has not read the file again yet (its log says why), or something else listens there")
		}
		return nil
	}
}

// maxAdminAnswer bounds an answer: whoever listens at the address may send what he likes.
const maxAdminAnswer = 64 << 20

// ask returns the body of an answer of 200; an error has the text of another one.
func (c *adminClient) ask(ctx context.Context, method, page string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+page, nil)
	if err != nil {
		return nil, ops.Usagef("admin address %s: %w", c.addr, err)
	}
	if c.password != "" {
		request.SetBasicAuth("seqgate", c.password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		var cause *url.Error // names the address again
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, fmt.Errorf("no answer at the admin address %s: %w", c.addr, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAdminAnswer))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the answer of the admin address %s: %w", c.addr, err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return body, nil
	case http.StatusUnauthorized:
		return nil, errors.New("the password of the admin address is missing or wrong: it is admin.password of the configuration, or SEQGATE_ADMIN_PASSWORD")
	}
	text := strings.TrimSpace(string(body[:min(len(body), 2000)]))
	return nil, errors.New(printableText(response.Status + ": " + text))
}
