//! The database password, which is never printed.

use std::path::Path;

use postgres::Config;
use postgres::config::Host;

use crate::secret;

/// Sets a connection's password from the given file, or else from the URL, `PGPASSWORD`, or the
/// file named by `PGPASSFILE`, in this order. `variable` reads an environment variable.
///
/// # Errors
/// Returns an error, which never contains the password, if a named file cannot be used.
pub fn set_password(
    config: &mut Config,
    file: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    if let Some(file) = file {
        let text = read(file)?;
        let Some(line) = text.lines().next().filter(|line| !line.is_empty()) else {
            return Err(format!("{}: it contains no password", file.display()));
        };
        config.password(line);
        return Ok(());
    }
    if config.get_password().is_some() {
        return Ok(());
    }
    if let Some(password) = variable("PGPASSWORD") {
        config.password(password);
    } else if let Some(file) = variable("PGPASSFILE") {
        let text = read(Path::new(&file))?;
        if let Some(password) = text.lines().find_map(|line| matching(line, config)) {
            config.password(password);
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, String> {
    secret::read_text(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the password from a line `HOST:PORT:DATABASE:USER:PASSWORD` if the line matches a
/// connection. `*` matches anything; `\:` and `\\` stand for a colon and a backslash.
fn matching(line: &str, config: &Config) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(_) => "localhost".to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    let ports: Vec<String> = match config.get_ports() {
        [] => vec!["5432".to_string()],
        ports => ports.iter().map(u16::to_string).collect(),
    };
    let config_user = config.get_user().unwrap_or_default();
    let matches = |field: &String, value: &str| field == "*" || field == value;
    let matches_all = hosts.iter().any(|name| matches(host, name))
        && ports.iter().any(|number| matches(port, number))
        && matches(database, config.get_dbname().unwrap_or(config_user))
        && matches(user, config_user);
    matches_all.then(|| password.clone())
}

/// Returns the unescaped fields in a line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            // The password is the last field, which may contain unescaped colons.
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn found(line: &str, url: &str) -> Option<String> {
        matching(line, &url.parse().expect("the address is valid"))
    }

    #[test]
    fn a_line_of_passwords_is_parsed_like_postgresql_does() {
        let url = "postgres://pavior@db:5433/leases";
        assert_eq!(found("db:5433:leases:pavior:a\\:b\\\\c:d", url).as_deref(), Some("a:b\\c:d"));
        assert_eq!(found("*:*:*:*:x", url).as_deref(), Some("x"));
        for other in ["db:5432:*:*:x", "other:*:*:*:x", "*:*:*:root:x", "# *:*:*:*:x", "db:x"] {
            assert_eq!(found(other, url), None, "{other}");
        }
        // If the port or database is missing, PostgreSQL's defaults are used.
        let short = "postgres://pavior@db";
        assert_eq!(found("db:5432:pavior:pavior:x", short).as_deref(), Some("x"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = tempfile::TempDir::new().expect("the file system has space");
        let file = folder.path().join("password");
        std::fs::write(&file, "geheim\n").expect("the file can be written");
        let set = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, permissions).expect("the file belongs to this user");
        };
        let url = "postgres://pavior:other@db";
        let mut config: Config = url.parse().expect("the address is valid");
        for mode in [0o644, 0o640, 0o604, 0o620] {
            set(mode);
            let text = set_password(&mut config, Some(&file), |_| None)
                .expect_err("the file is open to others");
            assert!(text.contains("chmod 600") && !text.contains("geheim"), "{text}");
        }
        set(0o600);
        set_password(&mut config, Some(&file), |_| None).expect("the file is closed to others");
        assert_eq!(config.get_password(), Some(&b"geheim"[..]));
    }

    #[test]
    fn the_environment_supplies_a_password_that_the_address_lacks() {
        let variable = |name: &str| (name == "PGPASSWORD").then(|| "x".to_string());
        let with = |url: &str| {
            let mut config: Config = url.parse().expect("the address is valid");
            set_password(&mut config, None, variable).expect("no file is read");
            config.get_password().map(<[u8]>::to_vec)
        };
        assert_eq!(with("postgres://pavior@db"), Some(b"x".to_vec()));
        assert_eq!(with("postgres://pavior:y@db"), Some(b"y".to_vec()));
    }
}
