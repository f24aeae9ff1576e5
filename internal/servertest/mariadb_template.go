package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	redoLogSize = "16M"

	// mariaDBUsers is run when the data directory is made. That server starts without accounts; FLUSH PRIVILEGES turns
	// them on so that it takes CREATE USER.
	mariaDBUsers = "FLUSH PRIVILEGES;\n" +
		"CREATE USER app@'%' IDENTIFIED BY 'app';\n" +
		"GRANT ALL ON *.* TO app@'%' WITH GRANT OPTION;\n"
)

// mariaDBBinary returns the path of a MariaDB program. Debian keeps the server in /usr/sbin, which may not be in PATH.
func mariaDBBinary(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", missingError("no MariaDB: " + name + " is not installed (Debian: apt-get install mariadb-server)")
}

// mariaDBTemplate returns a directory whose "data" is what mariadb-install-db makes, with the tests' users.
func mariaDBTemplate() (string, error) {
	bin, err := mariaDBBinary("mariadbd")
	if err != nil {
		return "", err
	}
	version, err := exec.Command(bin, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", bin, err)
	}
	return template(nameMariaDB, string(version)+redoLogSize+mariaDBUsers, installMariaDB)
}

func installMariaDB(dir string) error {
	install, err := mariaDBBinary("mariadb-install-db")
	if err != nil {
		return err
	}
	users := filepath.Join(dir, "users.sql")
	if err := os.WriteFile(users, []byte(mariaDBUsers), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(install, "--no-defaults", "--datadir="+filepath.Join(dir, "data"),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--force", // also where no host name resolves
		"--extra-file="+users, "--innodb-log-file-size="+redoLogSize)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", install, err, out)
	}
	return nil
}
