use std::fs;
use std::io::{self, Write};
use std::path::Path;

use pavior_files::{Output, check_writable, replace_public, write_whole};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_whole_or_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    let failing = |out: &mut dyn Write| {
        out.write_all(b"half")?;
        Err(io::Error::other("the disk is full"))
    };
    assert!(write_whole(&path, failing).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(Output::create(&path).unwrap());
    check_writable(&path).unwrap();
    write_whole(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn what_a_killed_process_left_is_removed_and_what_is_being_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Output::create(&folder.path().join("first")).unwrap();
    first.write_all(b"1").unwrap();
    // This file looks like one left by a killed process, with a temporary name and no lock.
    fs::write(folder.path().join(".pavior-0123456789abcdef.partial"), "half").unwrap();
    let mut second = Output::create(&folder.path().join("second")).unwrap();
    second.write_all(b"2").unwrap();
    assert_eq!(names(folder.path()).len(), 2, "two unfinished outputs");
    first.finish().unwrap();
    second.finish().unwrap();
    assert_eq!(names(folder.path()), ["first", "second"]);
}

#[test]
fn writers_side_by_side_take_nothing_from_each_other() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                for round in 0..200 {
                    let path = folder.join(format!("{writer}"));
                    write_whole(&path, |out| write!(out, "{round}")).unwrap();
                }
            });
        }
    });
    assert_eq!(names(folder.path()), ["0", "1", "2", "3"]);
    assert!(
        (0..4).all(|writer| fs::read(folder.path().join(format!("{writer}"))).unwrap() == b"199")
    );
}

#[test]
fn places_that_cannot_be_written_are_told_before() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join("none/out"), "/".into(), "".into()]
    {
        let error = check_writable(&path).unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(Output::create(&path).is_err());
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn the_mode_of_an_output_stays_and_a_new_one_gets_the_usual() {
        let folder = tempfile::tempdir().unwrap();
        for expected in [0o600, 0o640, 0o666] {
            let path = folder.path().join(format!("{expected:o}"));
            fs::write(&path, "secret").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(expected)).unwrap();
            write_whole(&path, |out| out.write_all(b"new")).unwrap();
            assert_eq!(mode(&path), expected);
        }
        let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
        write_whole(&ours, |out| out.write_all(b"new")).unwrap();
        fs::write(&usual, "new").unwrap();
        assert_eq!(mode(&ours), mode(&usual));
    }

    #[test]
    fn a_link_is_followed_only_where_the_user_named_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink("file", &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let nowhere = folder.path().join("nowhere");
        symlink("missing", &nowhere).unwrap();
        assert!(write_whole(&nowhere, |_| Ok(())).unwrap_err().is_usage());
        assert_eq!(names(folder.path()), ["file", "link", "nowhere"]);
    }

    #[test]
    fn a_public_file_replaces_a_link_and_is_readable_by_all() {
        let folder = tempfile::tempdir().unwrap();
        let [private, path, directory] =
            ["private", "public", "dir"].map(|name| folder.path().join(name));
        fs::write(&private, "mine").unwrap();
        fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("private", &path).unwrap();
        fs::create_dir(&directory).unwrap();
        replace_public(&path, b"text").unwrap();
        assert_eq!((fs::read(&private).unwrap(), mode(&private)), (b"mine".to_vec(), 0o600));
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"text".to_vec(), 0o644));
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
        assert!(replace_public(&directory, b"text").is_err());
        assert_eq!(names(folder.path()), ["dir", "private", "public"]);
    }

    #[test]
    fn a_planted_name_of_a_temporary_file_is_neither_followed_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let planted = [
            format!(".out.{}.partial", std::process::id()),
            ".notes.partial".to_string(),
            ".pavior-0000000000000000.partial".to_string(),
        ];
        for name in &planted {
            symlink("victim", folder.path().join(name)).unwrap();
        }
        write_whole(&folder.path().join("out"), |out| out.write_all(b"new")).unwrap();
        check_writable(&folder.path().join("out")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(names(folder.path()).len(), 5);
    }

    #[test]
    fn devices_are_written_as_they_are() {
        write_whole(Path::new("/dev/null"), |out| out.write_all(b"new")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        if Path::new("/dev/full").exists() {
            let error = write_whole(Path::new("/dev/full"), |out| out.write_all(b"new"));
            assert!(!error.unwrap_err().is_usage());
        }
    }
}
